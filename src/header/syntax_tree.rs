//! libclang's syntax tree as safe values.
//!
//! Knows: the calls of the library that reading a struct needs, and who owns what they return.
//! Promises: strings are copied and given back; cursors and types live no longer than their unit.
//! Does not cover: what the tree means (`parsing`).

// The library's own names stand in patterns.
#![allow(non_upper_case_globals)]

use clang_sys::*;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_ulong, c_void};
use std::marker::PhantomData;

/// A place in a file.
#[derive(Debug, Clone)]
pub(super) struct SourcePlace {
    /// As the compiler was told it, or found it.
    pub file: Option<String>,
    pub line: u32,
    pub column: u32,
}

/// An error that the compiler tells.
pub(super) struct CompilerError {
    pub message: String,
    pub place: SourcePlace,
}

/// A file that was read, and where it was included.
pub(super) struct IncludedFile {
    pub name: String,
    /// None: it is the header itself.
    pub included_in: Option<String>,
}

/// A header that was read.
pub(super) struct TranslationUnit {
    index: CXIndex,
    unit: CXTranslationUnit,
}

/// Why there is no unit.
pub(super) enum UnitFailure {
    /// The library cannot be loaded.
    NoLibrary(String),
    /// The compiler crashed and was stopped.
    Crashed,
    /// The compiler refused its arguments, in words.
    Refused(&'static str),
}

impl TranslationUnit {
    /// Loads the library and reads a header, or a text of that name in its place.
    pub(super) fn parse(
        file: &str,
        arguments: &[String],
        text: Option<&str>,
    ) -> Result<Self, UnitFailure> {
        clang_sys::load().map_err(UnitFailure::NoLibrary)?;
        let refused = UnitFailure::Refused("a name holds a null byte");
        let texts: Result<Vec<CString>, _> =
            arguments.iter().map(|argument| CString::new(argument.as_str())).collect();
        let (Ok(texts), Ok(file)) = (texts, CString::new(file)) else { return Err(refused) };
        let pointers: Vec<*const c_char> = texts.iter().map(|text| text.as_ptr()).collect();
        let count = c_int::try_from(pointers.len()).map_err(|_| refused)?;
        let mut unsaved_files: Vec<CXUnsavedFile> = text
            .iter()
            .map(|text| CXUnsavedFile {
                Filename: file.as_ptr(),
                Contents: text.as_ptr().cast(),
                Length: text.len() as c_ulong,
            })
            .collect();
        let mut unit: CXTranslationUnit = std::ptr::null_mut();
        // SAFETY: strings and texts outlive the call, and each number is that of a list.
        let (index, error) = unsafe {
            let index = clang_createIndex(0, 0);
            let options = CXTranslationUnit_SkipFunctionBodies;
            let error = clang_parseTranslationUnit2(
                index,
                file.as_ptr(),
                pointers.as_ptr(),
                count,
                unsaved_files.as_mut_ptr(),
                unsaved_files.len() as c_uint,
                options,
                &mut unit,
            );
            (index, error)
        };
        if error == CXError_Success && !unit.is_null() {
            return Ok(Self { index, unit });
        }
        // SAFETY: the index was made above and nothing refers to it.
        unsafe { clang_disposeIndex(index) };
        Err(match error {
            CXError_Crashed => UnitFailure::Crashed,
            CXError_InvalidArguments => {
                UnitFailure::Refused("the compiler does not take these arguments")
            }
            _ => UnitFailure::Refused("the compiler cannot read it"),
        })
    }

    /// What the compiler calls itself.
    pub(super) fn compiler_name(&self) -> String {
        // SAFETY: no argument.
        copied_text(unsafe { clang_getClangVersion() })
    }

    /// Errors alone, in the compiler's order.
    pub(super) fn errors(&self) -> Vec<CompilerError> {
        // SAFETY: the unit lives, indices are below the number, diagnostics are given back.
        unsafe {
            let count = clang_getNumDiagnostics(self.unit);
            let mut errors = Vec::new();
            for number in 0..count {
                let diagnostic = clang_getDiagnostic(self.unit, number);
                if clang_getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error {
                    errors.push(CompilerError {
                        message: copied_text(clang_getDiagnosticSpelling(diagnostic)),
                        place: source_place(clang_getDiagnosticLocation(diagnostic)),
                    });
                }
                clang_disposeDiagnostic(diagnostic);
            }
            errors
        }
    }

    /// Every file that was read.
    pub(super) fn files(&self) -> Vec<IncludedFile> {
        extern "C" fn add_file(
            file: CXFile,
            stack: *mut CXSourceLocation,
            depth: c_uint,
            files: CXClientData,
        ) {
            // SAFETY: `files` is the list that is passed below, and `stack` has `depth` places.
            unsafe {
                let files = &mut *files.cast::<Vec<IncludedFile>>();
                let included_in =
                    (depth > 0).then(|| source_place(*stack).file.unwrap_or_default());
                files.push(IncludedFile { name: file_name(file).unwrap_or_default(), included_in });
            }
        }
        let mut files: Vec<IncludedFile> = Vec::new();
        // SAFETY: the unit lives; the list outlives the call.
        unsafe {
            clang_getInclusions(self.unit, add_file, (&raw mut files).cast::<c_void>());
        }
        files
    }

    /// The cursor of the whole unit.
    pub(super) fn root(&self) -> Cursor<'_> {
        // SAFETY: the unit lives as long as the cursor.
        Cursor { raw: unsafe { clang_getTranslationUnitCursor(self.unit) }, unit: PhantomData }
    }
}

impl Drop for TranslationUnit {
    fn drop(&mut self) {
        // SAFETY: both were made by `parse` and are given back once, the unit first.
        unsafe {
            clang_disposeTranslationUnit(self.unit);
            clang_disposeIndex(self.index);
        }
    }
}

/// What a declaration is, as far as reading a struct needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DeclarationKind {
    Namespace,
    /// `extern "C"`
    Linkage,
    /// A struct or a class.
    Struct,
    Union,
    /// A name of another type.
    TypeName,
    /// A base of a class.
    Base,
    Other,
}

/// What a canonical type is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TypeKind {
    /// An unsigned integer, `bool` too.
    Unsigned,
    /// A signed integer.
    Signed,
    /// A floating-point number of IEEE 754.
    Floating,
    /// An array of known size.
    Array,
    Vector,
    Enumeration,
    Record,
    Pointer,
    Reference,
    /// An array at the end of a struct that the struct's size does not count.
    FlexibleArray,
    /// An array whose size is no number.
    UnsizedArray,
    Other,
}

/// A declaration.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'unit> {
    raw: CXCursor,
    unit: PhantomData<&'unit TranslationUnit>,
}

// SAFETY of this block: every call takes cursors of a unit that lives, and returns values.
impl<'unit> Cursor<'unit> {
    fn new(raw: CXCursor) -> Self {
        Self { raw, unit: PhantomData }
    }

    pub(super) fn kind(self) -> DeclarationKind {
        // SAFETY: see the block.
        match unsafe { clang_getCursorKind(self.raw) } {
            CXCursor_Namespace => DeclarationKind::Namespace,
            // Older versions do not tell `extern "C"` from what they do not know.
            CXCursor_LinkageSpec | CXCursor_UnexposedDecl => DeclarationKind::Linkage,
            CXCursor_StructDecl | CXCursor_ClassDecl => DeclarationKind::Struct,
            CXCursor_UnionDecl => DeclarationKind::Union,
            CXCursor_TypedefDecl | CXCursor_TypeAliasDecl => DeclarationKind::TypeName,
            CXCursor_CXXBaseSpecifier => DeclarationKind::Base,
            _ => DeclarationKind::Other,
        }
    }

    pub(super) fn name(self) -> String {
        // SAFETY: see the block.
        copied_text(unsafe { clang_getCursorSpelling(self.raw) })
    }

    pub(super) fn place(self) -> SourcePlace {
        // SAFETY: see the block.
        source_place(unsafe { clang_getCursorLocation(self.raw) })
    }

    /// The type of a declaration, names of types resolved.
    pub(super) fn declared_type(self) -> DeclaredType<'unit> {
        // SAFETY: see the block.
        DeclaredType::new(unsafe { clang_getCursorType(self.raw) })
    }

    pub(super) fn is_definition(self) -> bool {
        // SAFETY: see the block.
        unsafe { clang_isCursorDefinition(self.raw) != 0 }
    }

    /// Whether a namespace adds nothing to the names in it.
    pub(super) fn is_transparent_namespace(self) -> bool {
        // SAFETY: see the block.
        unsafe {
            clang_Cursor_isInlineNamespace(self.raw) != 0 || clang_Cursor_isAnonymous(self.raw) != 0
        }
    }

    /// Whether it is a struct or union without name and without a member of its type.
    pub(super) fn is_anonymous_record(self) -> bool {
        // SAFETY: see the block.
        unsafe { clang_Cursor_isAnonymousRecordDecl(self.raw) != 0 }
    }

    /// Bits of a bit-field; none of other members.
    pub(super) fn bit_width(self) -> Option<i32> {
        // SAFETY: see the block.
        unsafe {
            (clang_Cursor_isBitField(self.raw) != 0).then(|| clang_getFieldDeclBitWidth(self.raw))
        }
    }

    /// Bits from the start of the record that declares the member; none where there is no layout.
    pub(super) fn offset_in_bits(self) -> Option<u64> {
        // SAFETY: see the block.
        u64::try_from(unsafe { clang_Cursor_getOffsetOfField(self.raw) }).ok()
    }

    /// Whether it is a function of a class that is virtual, whatever it is called.
    pub(super) fn is_virtual(self) -> bool {
        // SAFETY: see the block.
        unsafe { clang_CXXMethod_isVirtual(self.raw) != 0 }
    }

    /// The template that a record is an instance of.
    pub(super) fn template(self) -> Option<Cursor<'unit>> {
        // SAFETY: see the block.
        let template = unsafe { clang_getSpecializedCursorTemplate(self.raw) };
        // SAFETY: see the block.
        (unsafe { clang_Cursor_isNull(template) } == 0).then(|| Cursor::new(template))
    }

    /// The integer type behind an enumeration.
    pub(super) fn enumeration_type(self) -> DeclaredType<'unit> {
        // SAFETY: see the block.
        DeclaredType::new(unsafe { clang_getEnumDeclIntegerType(self.raw) })
    }

    pub(super) fn children(self) -> Vec<Cursor<'unit>> {
        extern "C" fn add_child(
            child: CXCursor,
            _: CXCursor,
            children: CXClientData,
        ) -> CXChildVisitResult {
            // SAFETY: `children` is the list that is passed below.
            unsafe { (*children.cast::<Vec<CXCursor>>()).push(child) };
            CXChildVisit_Continue
        }
        let mut children: Vec<CXCursor> = Vec::new();
        // SAFETY: the list outlives the call.
        unsafe {
            clang_visitChildren(self.raw, add_child, (&raw mut children).cast::<c_void>());
        }
        children.into_iter().map(Cursor::new).collect()
    }
}

/// A type.
#[derive(Clone, Copy)]
pub(super) struct DeclaredType<'unit> {
    raw: CXType,
    unit: PhantomData<&'unit TranslationUnit>,
}

// SAFETY of this block: every call takes types of a unit that lives, and returns values.
impl<'unit> DeclaredType<'unit> {
    fn new(raw: CXType) -> Self {
        Self { raw, unit: PhantomData }
    }

    /// The same without names of other types.
    pub(super) fn canonical(self) -> Self {
        // SAFETY: see the block.
        Self::new(unsafe { clang_getCanonicalType(self.raw) })
    }

    /// Whether both are one type, whatever names lead to it.
    pub(super) fn is_same(self, other: Self) -> bool {
        let (own, others) = (self.canonical(), other.canonical());
        // SAFETY: see the block.
        unsafe { clang_equalTypes(own.raw, others.raw) != 0 }
    }

    /// Of a canonical type.
    pub(super) fn kind(self) -> TypeKind {
        match self.raw.kind {
            CXType_Bool | CXType_Char_U | CXType_UChar | CXType_UShort | CXType_UInt
            | CXType_ULong | CXType_ULongLong | CXType_Char16 | CXType_Char32 => TypeKind::Unsigned,
            CXType_Char_S | CXType_SChar | CXType_Short | CXType_Int | CXType_Long
            | CXType_LongLong => TypeKind::Signed,
            CXType_Half | CXType_Float16 | CXType_Float | CXType_Double => TypeKind::Floating,
            CXType_ConstantArray => TypeKind::Array,
            CXType_Vector | CXType_ExtVector => TypeKind::Vector,
            CXType_Enum => TypeKind::Enumeration,
            CXType_Record => TypeKind::Record,
            CXType_Pointer | CXType_MemberPointer | CXType_BlockPointer => TypeKind::Pointer,
            CXType_LValueReference | CXType_RValueReference => TypeKind::Reference,
            CXType_IncompleteArray => TypeKind::FlexibleArray,
            CXType_DependentSizedArray | CXType_VariableArray => TypeKind::UnsizedArray,
            _ => TypeKind::Other,
        }
    }

    /// As the source writes it.
    pub(super) fn spelling(self) -> String {
        // SAFETY: see the block.
        copied_text(unsafe { clang_getTypeSpelling(self.raw) })
    }

    /// Bytes; none of incomplete and dependent types.
    pub(super) fn size(self) -> Option<u64> {
        // SAFETY: see the block.
        u64::try_from(unsafe { clang_Type_getSizeOf(self.raw) }).ok()
    }

    /// Elements of an array of known size.
    pub(super) fn array_size(self) -> Option<u64> {
        // SAFETY: see the block.
        u64::try_from(unsafe { clang_getArraySize(self.raw) }).ok()
    }

    pub(super) fn array_element(self) -> Self {
        // SAFETY: see the block.
        Self::new(unsafe { clang_getArrayElementType(self.raw) })
    }

    /// Elements of a vector.
    pub(super) fn vector_size(self) -> Option<u64> {
        // SAFETY: see the block.
        u64::try_from(unsafe { clang_getNumElements(self.raw) }).ok()
    }

    pub(super) fn vector_element(self) -> Self {
        // SAFETY: see the block.
        Self::new(unsafe { clang_getElementType(self.raw) })
    }

    pub(super) fn declaration(self) -> Cursor<'unit> {
        // SAFETY: see the block.
        Cursor::new(unsafe { clang_getTypeDeclaration(self.raw) })
    }

    /// The members of a record, those of instances of templates too.
    pub(super) fn fields(self) -> Vec<Cursor<'unit>> {
        extern "C" fn add_field(field: CXCursor, fields: CXClientData) -> CXVisitorResult {
            // SAFETY: `fields` is the list that is passed below.
            unsafe { (*fields.cast::<Vec<CXCursor>>()).push(field) };
            CXVisit_Continue
        }
        let mut fields: Vec<CXCursor> = Vec::new();
        // SAFETY: the list outlives the call.
        unsafe {
            clang_Type_visitFields(self.raw, add_field, (&raw mut fields).cast::<c_void>());
        }
        fields.into_iter().map(Cursor::new).collect()
    }
}

/// The text of a string of the library, which is given back.
fn copied_text(text: CXString) -> String {
    // SAFETY: the string is the caller's, and given back once.
    unsafe {
        let characters = clang_getCString(text);
        let copy = if characters.is_null() {
            String::new()
        } else {
            CStr::from_ptr(characters).to_string_lossy().into_owned()
        };
        clang_disposeString(text);
        copy
    }
}

fn file_name(file: CXFile) -> Option<String> {
    // SAFETY: a file of a unit that lives.
    (!file.is_null()).then(|| copied_text(unsafe { clang_getFileName(file) }))
}

fn source_place(location: CXSourceLocation) -> SourcePlace {
    let mut file: CXFile = std::ptr::null_mut();
    let (mut line, mut column): (c_uint, c_uint) = (0, 0);
    // SAFETY: the pointers are to locals; the offset is not asked for.
    unsafe {
        clang_getFileLocation(location, &mut file, &mut line, &mut column, std::ptr::null_mut());
    }
    SourcePlace { file: file_name(file), line, column }
}
