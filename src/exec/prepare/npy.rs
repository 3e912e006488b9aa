//! NumPy's `.npy` files, as far as element types of the contract go.
//!
//! Knows: format versions 1.0, 2.0 and 3.0, both byte orders, C and Fortran order.
//! Promises: elements come in C order, whichever order the file has; what is written is read back
//! as it was.
//! Does not cover: structured, complex, string and object types: refused with the reason.

use vkcert_model::element::ScalarType;

/// The contents of a file: elements in C order, little endian, in the types of the contract (a
/// Boolean has 4 bytes).
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    /// Type of the elements.
    pub scalar: ScalarType,
    /// The elements, one after another.
    pub bytes: Vec<u8>,
    /// Lengths of the axes, the slowest first.
    pub shape: Vec<usize>,
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
        1 => (
            u16::from_le_bytes(file.get(8..10).ok_or_else(broken)?.try_into().expect("2 bytes"))
                .into(),
            10,
        ),
        2 | 3 => {
            let length = u32::from_le_bytes(
                file.get(8..12).ok_or_else(broken)?.try_into().expect("4 bytes"),
            );
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
    let count = shape.iter().try_fold(1_usize, |count, length| count.checked_mul(*length));
    let expected = count.and_then(|count| count.checked_mul(stored)).ok_or_else(broken)?;
    if body.len() != expected {
        return Err(format!(
            "the .npy file has {} bytes of data where its shape needs {expected}",
            body.len()
        ));
    }
    let is_fortran = field(header, "fortran_order").is_some_and(|value| value.starts_with("True"));
    let reordered = is_fortran.then(|| in_c_order(body, stored, &shape));
    let bytes = converted(reordered.as_deref().unwrap_or(body), scalar, stored, order);
    Ok(Array { scalar, bytes, shape })
}

/// Elements of `size` bytes that are stored with the first axis fastest, with the last axis
/// fastest.
fn in_c_order(body: &[u8], size: usize, shape: &[usize]) -> Vec<u8> {
    let strides: Vec<usize> = shape
        .iter()
        .scan(1, |next, length| Some(std::mem::replace(next, *next * length)))
        .collect();
    let mut index = vec![0_usize; shape.len()];
    let mut bytes = Vec::with_capacity(body.len());
    while bytes.len() < body.len() {
        let from: usize = index.iter().zip(&strides).map(|(at, stride)| at * stride).sum();
        bytes.extend_from_slice(&body[from * size..(from + 1) * size]);
        for axis in (0..shape.len()).rev() {
            index[axis] += 1;
            if index[axis] < shape[axis] {
                break;
            }
            index[axis] = 0;
        }
    }
    bytes
}

/// A version 1.0 file of elements in C order, little endian; a Boolean of 4 bytes is stored as
/// `uint32`, as buffers hold it.
pub fn written(scalar: ScalarType, shape: &[usize], bytes: &[u8]) -> Vec<u8> {
    let kind = match scalar {
        ScalarType::Int8 => "|i1",
        ScalarType::Uint8 => "|u1",
        ScalarType::Int16 => "<i2",
        ScalarType::Uint16 => "<u2",
        ScalarType::Int32 => "<i4",
        ScalarType::Bool | ScalarType::Uint32 => "<u4",
        ScalarType::Int64 => "<i8",
        ScalarType::Uint64 => "<u8",
        ScalarType::Float16 => "<f2",
        ScalarType::Float32 => "<f4",
        ScalarType::Float64 => "<f8",
    };
    let lengths: String = shape.iter().map(|length| format!("{length}, ")).collect();
    let mut header = format!(
        "{{'descr': '{kind}', 'fortran_order': False, 'shape': ({}), }}",
        lengths.trim_end()
    );
    // The elements start at a multiple of 64 bytes.
    let padding = 63 - (MAGIC.len() + 4 + header.len()) % 64;
    header.extend(std::iter::repeat_n(' ', padding));
    header.push('\n');
    [MAGIC, &[1, 0], &(header.len() as u16).to_le_bytes(), header.as_bytes(), bytes].concat()
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
    let unknown =
        || format!("the .npy file holds elements of type `{description}`, which is no buffer type");
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
    inside
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .map(|part| part.parse().ok())
        .collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A version 1.0 file.
    pub(crate) fn npy(description: &str, shape: &str, fortran: &str, body: &[u8]) -> Vec<u8> {
        let header = format!(
            "{{'descr': '{description}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n"
        );
        let mut file = [MAGIC, &[1, 0], &(header.len() as u16).to_le_bytes()].concat();
        file.extend_from_slice(header.as_bytes());
        file.extend_from_slice(body);
        file
    }

    #[test]
    fn both_byte_orders_give_the_same_elements() {
        let little = read(&npy("<f4", "(2,)", "False", &[0, 0, 128, 63, 0, 0, 0, 64])).unwrap();
        let big = read(&npy(">f4", "(2, 1)", "True", &[63, 128, 0, 0, 64, 0, 0, 0])).unwrap();
        assert_eq!((little.scalar, &little.bytes), (big.scalar, &big.bytes));
        assert_eq!((little.shape, big.shape), (vec![2], vec![2, 1]));
        assert_eq!(little.scalar, ScalarType::Float32);
        assert_eq!(little.bytes, [1.0_f32.to_le_bytes(), 2.0_f32.to_le_bytes()].concat());
    }

    #[test]
    fn fortran_order_is_read_as_the_array_that_it_is() {
        // [[0, 1, 2], [3, 4, 5]] and the same with an axis of two in front, by columns.
        let matrix = read(&npy("|u1", "(2, 3)", "True", &[0, 3, 1, 4, 2, 5])).unwrap();
        assert_eq!(matrix.bytes, [0, 1, 2, 3, 4, 5]);
        let cube = read(&npy("|u1", "(2, 2, 3)", "True", &[0, 6, 3, 9, 1, 7, 4, 10, 2, 8, 5, 11]))
            .unwrap();
        assert_eq!(cube.bytes, (0..12).collect::<Vec<u8>>());
        assert!(read(&npy("|u1", "(0, 3)", "True", &[])).unwrap().bytes.is_empty());
    }

    #[test]
    fn what_is_written_is_read_back() {
        let bytes: Vec<u8> = (0..48).collect();
        let file = written(ScalarType::Float32, &[2, 3, 2], &bytes);
        assert_eq!(
            read(&file).unwrap(),
            Array { scalar: ScalarType::Float32, bytes, shape: vec![2, 3, 2] }
        );
        assert_eq!((file.len() - 48) % 64, 0);
        assert_eq!(read(&written(ScalarType::Uint8, &[1], &[7])).unwrap().bytes, [7]);
    }

    #[test]
    fn booleans_widen_and_bad_files_are_refused() {
        assert_eq!(
            read(&npy("|b1", "(2,)", "False", &[1, 0])).unwrap().bytes,
            [1, 0, 0, 0, 0, 0, 0, 0]
        );
        assert!(read(&npy("<f4", "(3,)", "False", &[0; 8])).unwrap_err().contains("12"));
        assert!(read(&npy("<c8", "(1,)", "False", &[0; 8])).unwrap_err().contains("<c8"));
        assert!(read(b"\x93NUMPY\x01\0\xff").is_err());
    }
}
