//! NumPy's `.npy` files, as far as element types of the contract go.
//!
//! Knows: format versions 1.0, 2.0 and 3.0, both byte orders, C order (and Fortran order where it is the same).
//! Does not cover: structured, complex, string and object types, Fortran-ordered matrices: refused with the reason.

use crate::model::element::ScalarType;

/// The contents of a file: elements in C order, little endian, in the types of the contract (a Boolean has 4 bytes).
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    pub scalar: ScalarType,
    pub bytes: Vec<u8>,
}

const MAGIC: &[u8] = b"\x93NUMPY";

/// Whether a file begins as `.npy` files do.
pub fn is_npy(file: &[u8]) -> bool {
    file.starts_with(MAGIC)
}

/// Reads a file; an error is a sentence.
pub fn read(file: &[u8]) -> Result<Array, String> {
    let broken = || "the header of the .npy file is incomplete".to_owned();
    let version = *file.get(6).ok_or_else(broken)?;
    let (length, start) = match version {
        1 => (u16::from_le_bytes(file.get(8..10).ok_or_else(broken)?.try_into().expect("2 bytes")).into(), 10),
        2 | 3 => {
            let length = u32::from_le_bytes(file.get(8..12).ok_or_else(broken)?.try_into().expect("4 bytes"));
            (length as usize, 12)
        }
        other => return Err(format!("version {other} of the .npy format is not known")),
    };
    let header = file.get(start..start + length).ok_or_else(broken)?;
    let header = std::str::from_utf8(header).map_err(|_| broken())?;
    let body = &file[start + length..];
    let description = quoted(header, "descr").ok_or("the .npy file holds a structured type")?;
    let (scalar, stored, order) = element(description)?;
    let shape = shape(header).ok_or_else(broken)?;
    let dimensions = shape.iter().filter(|length| **length != 1).count();
    if field(header, "fortran_order").is_some_and(|value| value.starts_with("True")) && dimensions > 1 {
        return Err("the .npy file is in Fortran order; save it with order=\"C\"".to_owned());
    }
    let count = shape.iter().try_fold(1_usize, |count, length| count.checked_mul(*length));
    let expected = count.and_then(|count| count.checked_mul(stored)).ok_or_else(broken)?;
    if body.len() != expected {
        return Err(format!("the .npy file has {} bytes of data where its shape needs {expected}", body.len()));
    }
    Ok(Array { scalar, bytes: converted(body, scalar, stored, order) })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ByteOrder {
    Little,
    Big,
}

fn converted(body: &[u8], scalar: ScalarType, stored: usize, order: ByteOrder) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(body.len());
    for element in body.chunks_exact(stored) {
        match order {
            ByteOrder::Little => bytes.extend_from_slice(element),
            ByteOrder::Big => bytes.extend(element.iter().rev()),
        }
        bytes.resize(bytes.len() + scalar.size() - stored, 0);
    }
    bytes
}

/// Type, bytes per element in the file, byte order.
fn element(description: &str) -> Result<(ScalarType, usize, ByteOrder), String> {
    let unknown = || format!("the .npy file holds elements of type `{description}`, which is no buffer type");
    let order = match description.as_bytes().first() {
        Some(b'<' | b'|' | b'=') => ByteOrder::Little,
        Some(b'>') => ByteOrder::Big,
        _ => return Err(unknown()),
    };
    let scalar = match &description[1..] {
        "b1" => return Ok((ScalarType::Bool, 1, order)),
        "i1" => ScalarType::Int8,
        "i2" => ScalarType::Int16,
        "i4" => ScalarType::Int32,
        "i8" => ScalarType::Int64,
        "u1" => ScalarType::Uint8,
        "u2" => ScalarType::Uint16,
        "u4" => ScalarType::Uint32,
        "u8" => ScalarType::Uint64,
        "f2" => ScalarType::Float16,
        "f4" => ScalarType::Float32,
        "f8" => ScalarType::Float64,
        _ => return Err(unknown()),
    };
    Ok((scalar, scalar.size(), order))
}

/// The text behind a key of the header's Python dictionary.
fn field<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    let behind = header.split_once(&format!("'{key}'"))?.1;
    Some(behind.trim_start().strip_prefix(':')?.trim_start())
}

fn quoted<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    Some(field(header, key)?.strip_prefix('\'')?.split_once('\'')?.0)
}

fn shape(header: &str) -> Option<Vec<usize>> {
    let inside = field(header, "shape")?.strip_prefix('(')?.split_once(')')?.0;
    inside.split(',').map(str::trim).filter(|part| !part.is_empty()).map(|part| part.parse().ok()).collect()
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A version 1.0 file.
    pub fn npy(description: &str, shape: &str, fortran: &str, body: &[u8]) -> Vec<u8> {
        let header = format!("{{'descr': '{description}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
        let mut file = [MAGIC, &[1, 0], &(header.len() as u16).to_le_bytes()].concat();
        file.extend_from_slice(header.as_bytes());
        file.extend_from_slice(body);
        file
    }

    #[test]
    fn both_byte_orders_give_the_same_elements() {
        let little = read(&npy("<f4", "(2,)", "False", &[0, 0, 128, 63, 0, 0, 0, 64])).unwrap();
        let big = read(&npy(">f4", "(2, 1)", "True", &[63, 128, 0, 0, 64, 0, 0, 0])).unwrap();
        assert_eq!(little, big);
        assert_eq!(little.scalar, ScalarType::Float32);
        assert_eq!(little.bytes, [1.0_f32.to_le_bytes(), 2.0_f32.to_le_bytes()].concat());
    }

    #[test]
    fn booleans_widen_and_bad_files_are_refused() {
        assert_eq!(read(&npy("|b1", "(2,)", "False", &[1, 0])).unwrap().bytes, [1, 0, 0, 0, 0, 0, 0, 0]);
        assert!(read(&npy("<f4", "(3,)", "False", &[0; 8])).unwrap_err().contains("12"));
        assert!(read(&npy("<c8", "(1,)", "False", &[0; 8])).unwrap_err().contains("<c8"));
        assert!(read(&npy("<f4", "(2, 2)", "True", &[0; 16])).unwrap_err().contains("Fortran"));
        assert!(read(b"\x93NUMPY\x01\0\xff").is_err());
    }
}
