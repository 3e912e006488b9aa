//! Contents of buffers and images from files: `.npy` arrays lie as their shape says, pictures are
//! the image or refused.

use crate::support;

use serde_json::Value;
use std::path::Path;
use support::*;

/// A `.npy` file of single bytes or little-endian elements.
fn npy(kind: &str, shape: &str, fortran: bool, body: &[u8]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let header = format!("{{'descr': '{kind}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
    [b"\x93NUMPY\x01\x00".as_slice(), &(header.len() as u16).to_le_bytes(), header.as_bytes(), body]
        .concat()
}

/// Copies a 3 by 2 image of bytes and expects what `expected` names.
fn copied(folder: &Path, given: &str, expected: &str, exit: i32) -> Value {
    let text = format!(
        "schema = 1\nkernels.copy.source.text = '''\n#version 450\n\
         layout(set = 0, binding = 0, r8ui) uniform readonly uimage2D a;\n\
         layout(set = 0, binding = 1, r8ui) uniform writeonly uimage2D b;\n\
         void main() {{ ivec2 p = ivec2(gl_WorkGroupID.xy); imageStore(b, p, imageLoad(a, p)); }}\n'''\n\
         [[tests]]\nid = \"T\"\n\
         images.a = {{ dim = \"2d\", format = \"r8ui\", extent = [3, 2], file = \"{given}\" }}\n\
         images.b = {{ dim = \"2d\", format = \"r8ui\", extent = [3, 2] }}\n\
         [[tests.dispatches]]\nkernel = \"copy\"\ngroups = [3, 2, 1]\n\
         bindings = [{{ binding = 0, image = \"a\" }}, {{ binding = 1, image = \"b\" }}]\n\
         [[tests.expect]]\nimage = \"b\"\nfile = \"{expected}\"\n"
    );
    run_json(
        vkcert().arg("run").arg(write(folder, "t.toml", text)).args(["--engine", "sequential"]),
        exit,
    )
}

#[test]
fn an_array_lies_in_an_image_as_its_shape_says() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, "rows.npy", npy("|u1", "(2, 3)", false, &[1, 2, 3, 4, 5, 6]));
    write(folder, "columns.npy", npy("|u1", "(2, 3)", true, &[1, 4, 2, 5, 3, 6]));
    write(folder, "list.npy", npy("|u1", "(6,)", false, &[1, 2, 3, 4, 5, 6]));
    write(folder, "with_channel.npy", npy("|u1", "(1, 2, 3, 1)", false, &[1, 2, 3, 4, 5, 6]));
    write(folder, "picture.pgm", [b"P5 3 2 255 ".as_slice(), &[1, 2, 3, 4, 5, 6]].concat());
    for given in ["rows.npy", "columns.npy", "list.npy", "with_channel.npy", "picture.pgm"] {
        for expected in ["rows.npy", "columns.npy", "picture.pgm"] {
            assert_eq!(
                copied(folder, given, expected, 0)["tests"][0]["verdict"],
                "pass",
                "{given} {expected}"
            );
        }
    }
    write(folder, "transposed.npy", npy("|u1", "(3, 2)", false, &[1, 2, 3, 4, 5, 6]));
    write(folder, "cube.npy", npy("|u1", "(1, 3, 2)", false, &[1, 2, 3, 4, 5, 6]));
    write(folder, "tall.pgm", [b"P5 2 3 255 ".as_slice(), &[1, 2, 3, 4, 5, 6]].concat());
    for (given, words) in [
        ("transposed.npy", "3 rows of 2, which is the extent [2, 3], not [3, 2]"),
        ("cube.npy", "whose shape is (2, 3)"),
        ("tall.pgm", "2 pixels wide and 3 high"),
    ] {
        for error in [copied(folder, given, "rows.npy", 2), copied(folder, "rows.npy", given, 2)] {
            let message = error["error"]["message"].as_str().unwrap();
            assert!(message.contains(words), "{message}");
        }
    }
}

#[test]
fn vectors_of_a_buffer_are_the_last_axis_of_an_array() {
    let folder = tempfile::tempdir().unwrap();
    let given = |shape: &str, exit: i32| {
        let body: Vec<u8> = (0..24).flat_map(|number: u32| number.to_le_bytes()).collect();
        write(folder.path(), "a.npy", npy("<u4", shape, false, &body));
        let text = "schema = 1\nkernels.k.source.text = '''\n#version 450\n\
                    layout(std430, binding = 0) buffer A { uvec4 a[]; };\nvoid main() { a[1].x += 1u; }\n'''\n\
                    [[tests]]\nid = \"T\"\nbuffers.a = { type = \"uvec4\", file = \"a.npy\" }\n\
                    [[tests.dispatches]]\nkernel = \"k\"\ngroups = [1, 1, 1]\nbindings = [{ binding = 0, buffer = \"a\" }]\n\
                    [[tests.expect]]\nbuffer = \"a\"\ntype = \"uint\"\noffset = 16\nvalues = [5, 5]\n";
        run_json(
            vkcert()
                .arg("run")
                .arg(write(folder.path(), "t.toml", text))
                .args(["--engine", "sequential"]),
            exit,
        )
    };
    for shape in ["(24,)", "(6, 4)", "(2, 3, 4)"] {
        given(shape, 0);
    }
    for shape in ["(4, 6)", "(3, 8)"] {
        let error = given(shape, 2);
        assert!(error["error"]["message"].as_str().unwrap().contains("vectors of 4"), "{error:#}");
    }
}

#[test]
fn outputs_are_saved_as_files_that_are_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let text = "schema = 1\nkernels.k.source.text = '''\n#version 450\n\
                layout(std430, binding = 0) buffer A { float a[]; };\n\
                layout(binding = 1, rgba8) uniform writeonly image2D b;\n\
                layout(std430, binding = 2) readonly buffer C { float c[]; };\n\
                void main() { a[0] = 1.5 * c[0]; imageStore(b, ivec2(gl_WorkGroupID.xy), vec4(1.0, 0.0, 0.0, 1.0)); }\n'''\n\
                [[tests]]\nid = \"T\"\nbuffers.a = { type = \"vec2\", data = [0, 2, 3, 4] }\n\
                images.b = { dim = \"2d\", format = \"rgba8\", extent = [2, 1] }\n\
                buffers.c = { type = \"float\", data = [1] }\n\
                [[tests.dispatches]]\nkernel = \"k\"\ngroups = [2, 1, 1]\n\
                bindings = [{ binding = 0, buffer = \"a\" }, { binding = 1, image = \"b\" }, { binding = 2, buffer = \"c\" }]\n";
    let expect = "[[tests.expect]]\nbuffer = \"a\"\nfile = \"saved/T/sequential/a.npy\"\n\
                  [[tests.expect]]\nimage = \"b\"\nfile = \"saved/T/sequential/b.npy\"\n\
                  [[tests.expect]]\nimage = \"b\"\nfile = \"saved/T/sequential/b.png\"\n";
    let saved = folder.join("saved");
    let engine = ["--engine", "sequential"];
    let first = write(folder, "t.toml", text);
    run(vkcert().arg("run").arg(first).args(engine).arg("--save-outputs").arg(&saved), 1); // two invocations write one element
    let array = std::fs::read(saved.join("T/sequential/a.npy")).unwrap();
    assert!(
        String::from_utf8_lossy(&array).contains("'shape': (2, 2,)"),
        "{}",
        String::from_utf8_lossy(&array)
    );
    assert_eq!(
        array[array.len() - 16..],
        [1.5_f32, 2.0, 3.0, 4.0].map(f32::to_le_bytes).concat()[..]
    );
    // What is read alone is no output.
    assert!(!saved.join("T/sequential/c.npy").exists());
    let second = write(folder, "u.toml", format!("{text}{expect}"));
    let result = run_json(vkcert().arg("run").arg(second).args(engine), 1);
    assert_eq!(result["tests"][0]["verdict"], "pass", "{result:#}");
}
