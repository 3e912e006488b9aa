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
pub struct NpyArray {
    /// Type of the elements.
    pub scalar: ScalarType,
    /// The elements, one after another.
    pub bytes: Vec<u8>,
    /// Lengths of the axes, the slowest first.
    pub shape: Vec<usize>,
}

const MAGIC: &[u8] = b"\x93NUMPY";

/// Whether a file begins as `.npy` files do.
pub fn is_npy(file_bytes: &[u8]) -> bool {
    file_bytes.starts_with(MAGIC)
}

/// Reads a file; an error is a sentence.
pub fn read_npy(file_bytes: &[u8]) -> Result<NpyArray, String> {
    let incomplete_header = || "the header of the .npy file is incomplete".to_owned();
    let version = *file_bytes.get(6).ok_or_else(incomplete_header)?;
    let (header_length, header_start) = match version {
        1 => (
            u16::from_le_bytes(
                file_bytes.get(8..10).ok_or_else(incomplete_header)?.try_into().expect("2 bytes"),
            )
            .into(),
            10,
        ),
        2 | 3 => {
            let header_length = u32::from_le_bytes(
                file_bytes.get(8..12).ok_or_else(incomplete_header)?.try_into().expect("4 bytes"),
            );
            (header_length as usize, 12)
        }
        other_version => {
            return Err(format!("version {other_version} of the .npy format is not known"));
        }
    };
    let header_text =
        file_bytes.get(header_start..header_start + header_length).ok_or_else(incomplete_header)?;
    let header_text = std::str::from_utf8(header_text).map_err(|_| incomplete_header())?;
    let array_bytes = &file_bytes[header_start + header_length..];
    let description =
        quoted_field(header_text, "descr").ok_or("the .npy file holds a structured type")?;
    let (component_type, stored_bytes, byte_order) = element_of_code(description)?;
    let array_shape = header_shape(header_text).ok_or_else(incomplete_header)?;
    let element_count = array_shape
        .iter()
        .try_fold(1_usize, |element_count, axis_length| element_count.checked_mul(*axis_length));
    let expected_bytes = element_count
        .and_then(|element_count| element_count.checked_mul(stored_bytes))
        .ok_or_else(incomplete_header)?;
    if array_bytes.len() != expected_bytes {
        return Err(format!(
            "the .npy file has {} bytes of data where its shape needs {expected_bytes}",
            array_bytes.len()
        ));
    }
    let is_fortran =
        header_field(header_text, "fortran_order").is_some_and(|value| value.starts_with("True"));
    let reordered = is_fortran.then(|| in_c_order(array_bytes, stored_bytes, &array_shape));
    let bytes = convert_elements(
        reordered.as_deref().unwrap_or(array_bytes),
        component_type,
        stored_bytes,
        byte_order,
    );
    Ok(NpyArray { scalar: component_type, bytes, shape: array_shape })
}

/// Elements of `size` bytes that are stored with the first axis fastest, with the last axis
/// fastest.
fn in_c_order(array_bytes: &[u8], element_size: usize, array_shape: &[usize]) -> Vec<u8> {
    let axis_strides: Vec<usize> = array_shape
        .iter()
        .scan(1, |next_stride, length| Some(std::mem::replace(next_stride, *next_stride * length)))
        .collect();
    let mut element_index = vec![0_usize; array_shape.len()];
    let mut bytes = Vec::with_capacity(array_bytes.len());
    while bytes.len() < array_bytes.len() {
        let source_element: usize = element_index
            .iter()
            .zip(&axis_strides)
            .map(|(axis_index, stride)| axis_index * stride)
            .sum();
        bytes.extend_from_slice(
            &array_bytes[source_element * element_size..(source_element + 1) * element_size],
        );
        for axis in (0..array_shape.len()).rev() {
            element_index[axis] += 1;
            if element_index[axis] < array_shape[axis] {
                break;
            }
            element_index[axis] = 0;
        }
    }
    bytes
}

/// A version 1.0 file of elements in C order, little endian; a Boolean of 4 bytes is stored as
/// `uint32`, as buffers hold it.
pub fn write_npy(component_type: ScalarType, array_shape: &[usize], bytes: &[u8]) -> Vec<u8> {
    let type_code = match component_type {
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
    let length_texts: String = array_shape.iter().map(|length| format!("{length}, ")).collect();
    let mut header = format!(
        "{{'descr': '{type_code}', 'fortran_order': False, 'shape': ({}), }}",
        length_texts.trim_end()
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

fn convert_elements(
    array_bytes: &[u8],
    component_type: ScalarType,
    stored_size: usize,
    byte_order: ByteOrder,
) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(array_bytes.len());
    for element in array_bytes.chunks_exact(stored_size) {
        match byte_order {
            ByteOrder::Little => bytes.extend_from_slice(element),
            ByteOrder::Big => bytes.extend(element.iter().rev()),
        }
        bytes.resize(bytes.len() + component_type.size() - stored_size, 0);
    }
    bytes
}

/// Type, bytes per element in the file, byte order.
fn element_of_code(description: &str) -> Result<(ScalarType, usize, ByteOrder), String> {
    let unknown_type =
        || format!("the .npy file holds elements of type `{description}`, which is no buffer type");
    let byte_order = match description.as_bytes().first() {
        Some(b'<' | b'|' | b'=') => ByteOrder::Little,
        Some(b'>') => ByteOrder::Big,
        _ => return Err(unknown_type()),
    };
    let scalar = match &description[1..] {
        "b1" => return Ok((ScalarType::Bool, 1, byte_order)),
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
        _ => return Err(unknown_type()),
    };
    Ok((scalar, scalar.size(), byte_order))
}

/// The text behind a key of the header's Python dictionary.
fn header_field<'a>(header_text: &'a str, key: &str) -> Option<&'a str> {
    let after_key = header_text.split_once(&format!("'{key}'"))?.1;
    Some(after_key.trim_start().strip_prefix(':')?.trim_start())
}

fn quoted_field<'a>(header_text: &'a str, key: &str) -> Option<&'a str> {
    Some(header_field(header_text, key)?.strip_prefix('\'')?.split_once('\'')?.0)
}

fn header_shape(header_text: &str) -> Option<Vec<usize>> {
    let inside_parentheses =
        header_field(header_text, "shape")?.strip_prefix('(')?.split_once(')')?.0;
    inside_parentheses
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
    pub(crate) fn npy(
        description: &str,
        shape: &str,
        fortran: &str,
        array_bytes: &[u8],
    ) -> Vec<u8> {
        let header = format!(
            "{{'descr': '{description}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n"
        );
        let mut file = [MAGIC, &[1, 0], &(header.len() as u16).to_le_bytes()].concat();
        file.extend_from_slice(header.as_bytes());
        file.extend_from_slice(array_bytes);
        file
    }

    #[test]
    fn both_byte_orders_give_the_same_elements() {
        let little = read_npy(&npy("<f4", "(2,)", "False", &[0, 0, 128, 63, 0, 0, 0, 64])).unwrap();
        let big = read_npy(&npy(">f4", "(2, 1)", "True", &[63, 128, 0, 0, 64, 0, 0, 0])).unwrap();
        assert_eq!((little.scalar, &little.bytes), (big.scalar, &big.bytes));
        assert_eq!((little.shape, big.shape), (vec![2], vec![2, 1]));
        assert_eq!(little.scalar, ScalarType::Float32);
        assert_eq!(little.bytes, [1.0_f32.to_le_bytes(), 2.0_f32.to_le_bytes()].concat());
    }

    #[test]
    fn fortran_order_is_read_as_the_array_that_it_is() {
        // [[0, 1, 2], [3, 4, 5]] and the same with an axis of two in front, by columns.
        let matrix = read_npy(&npy("|u1", "(2, 3)", "True", &[0, 3, 1, 4, 2, 5])).unwrap();
        assert_eq!(matrix.bytes, [0, 1, 2, 3, 4, 5]);
        let cube =
            read_npy(&npy("|u1", "(2, 2, 3)", "True", &[0, 6, 3, 9, 1, 7, 4, 10, 2, 8, 5, 11]))
                .unwrap();
        assert_eq!(cube.bytes, (0..12).collect::<Vec<u8>>());
        assert!(read_npy(&npy("|u1", "(0, 3)", "True", &[])).unwrap().bytes.is_empty());
    }

    #[test]
    fn what_is_written_is_read_back() {
        let bytes: Vec<u8> = (0..48).collect();
        let file = write_npy(ScalarType::Float32, &[2, 3, 2], &bytes);
        assert_eq!(
            read_npy(&file).unwrap(),
            NpyArray { scalar: ScalarType::Float32, bytes, shape: vec![2, 3, 2] }
        );
        assert_eq!((file.len() - 48) % 64, 0);
        assert_eq!(read_npy(&write_npy(ScalarType::Uint8, &[1], &[7])).unwrap().bytes, [7]);
    }

    #[test]
    fn booleans_widen_and_bad_files_are_refused() {
        assert_eq!(
            read_npy(&npy("|b1", "(2,)", "False", &[1, 0])).unwrap().bytes,
            [1, 0, 0, 0, 0, 0, 0, 0]
        );
        assert!(read_npy(&npy("<f4", "(3,)", "False", &[0; 8])).unwrap_err().contains("12"));
        assert!(read_npy(&npy("<c8", "(1,)", "False", &[0; 8])).unwrap_err().contains("<c8"));
        assert!(read_npy(b"\x93NUMPY\x01\0\xff").is_err());
    }
}
