//! Cobertura documents held to `coverage-04.dtd`, and their rates to what stands below them.
//!
//! Knows: the content model and the attribute lists of that document type, with the two attributes
//! that VectorCAST adds.
//! Does not cover: values of attributes, which the document type leaves open (`CDATA`).

use super::xml_reader::{Element, document};
use crate::tests::rendered;
use crate::{FormatName, Presentation, Standing, render};
use vkcert_model::coverage::{SimpleObligation, Status};
use vkcert_model::criterion::CriterionName;
use vkcert_model::evidence::Evidence;
use vkcert_sample as sample;

/// How many of an element its parent holds.
#[derive(Clone, Copy, PartialEq)]
enum Occurrence {
    One,
    Optional,
    Any,
}

/// What an element may hold and must say.
struct ElementForm {
    name: &'static str,
    /// In this order.
    children: &'static [(&'static str, Occurrence)],
    required: &'static [&'static str],
    /// Those of the document type that have a default, and those of VectorCAST.
    optional: &'static [&'static str],
}

const fn form(
    name: &'static str,
    children: &'static [(&'static str, Occurrence)],
    required: &'static [&'static str],
    optional: &'static [&'static str],
) -> ElementForm {
    ElementForm { name, children, required, optional }
}

const FORMS: &[ElementForm] = &[
    form(
        "coverage",
        &[("sources", Occurrence::Optional), ("packages", Occurrence::One)],
        &[
            "line-rate",
            "branch-rate",
            "lines-covered",
            "lines-valid",
            "branches-covered",
            "branches-valid",
            "complexity",
            "version",
            "timestamp",
        ],
        &[],
    ),
    form("sources", &[("source", Occurrence::Any)], &[], &[]),
    form("source", &[], &[], &[]),
    form("packages", &[("package", Occurrence::Any)], &[], &[]),
    form(
        "package",
        &[("classes", Occurrence::One)],
        &["name", "line-rate", "branch-rate", "complexity"],
        &[],
    ),
    form("classes", &[("class", Occurrence::Any)], &[], &[]),
    form(
        "class",
        &[("methods", Occurrence::One), ("lines", Occurrence::One)],
        &["name", "filename", "line-rate", "branch-rate", "complexity"],
        &[],
    ),
    form("methods", &[("method", Occurrence::Any)], &[], &[]),
    form(
        "method",
        &[("lines", Occurrence::One)],
        &["name", "signature", "line-rate", "branch-rate", "complexity"],
        &["function-coverage"],
    ),
    form("lines", &[("line", Occurrence::Any)], &[], &[]),
    form(
        "line",
        &[("conditions", Occurrence::Any)],
        &["number", "hits"],
        &["branch", "condition-coverage", "mcdcpair-coverage"],
    ),
    form("conditions", &[("condition", Occurrence::Any)], &[], &[]),
    form("condition", &[], &["number", "type", "coverage"], &[]),
];

/// Panics where an element, or one below it, is not of its form.
fn check_form(element: &Element) {
    let name = element.name();
    let form = FORMS.iter().find(|form| form.name == name);
    let form = form.unwrap_or_else(|| panic!("there is no element {name}"));
    form.required.iter().for_each(|attribute| drop(element.attribute(attribute).to_owned()));
    for attribute in element.attribute_names() {
        let is_known = form.required.contains(&attribute) || form.optional.contains(&attribute);
        assert!(is_known, "{name} has no attribute {attribute}");
    }
    let mut remaining = element.children();
    for (child, occurrence) in form.children {
        let count = remaining.iter().take_while(|held| held.name() == *child).count();
        match occurrence {
            Occurrence::One => assert_eq!(count, 1, "{child} in {name}"),
            Occurrence::Optional => assert!(count <= 1, "{child} in {name}"),
            Occurrence::Any => {}
        }
        remaining = &remaining[count..];
    }
    let misplaced = remaining.first().map(Element::name);
    assert_eq!(misplaced, None, "in {name}");
    element.children().iter().for_each(check_form);
}

fn cobertura(evidence: &Evidence) -> Element {
    document(&String::from_utf8(rendered(evidence, FormatName::Cobertura)).unwrap())
}

/// `(1/2)` of `50% (1/2)`.
fn counts_in(text: &str) -> (u32, u32) {
    let (_, counts) = text.split_once(" (").unwrap();
    let (covered, total) = counts.strip_suffix(')').unwrap().split_once('/').unwrap();
    (covered.parse().unwrap(), total.parse().unwrap())
}

/// Lines and branches that lines say: covered, all.
fn counted(lines: &Element) -> [(u32, u32); 2] {
    let mut counts = [(0, 0); 2];
    for line in lines.children() {
        counts[0].0 += u32::from(line.attribute("hits") != "0");
        counts[0].1 += 1;
        if line.attribute("branch") == "true" {
            let (covered, total) = counts_in(line.attribute("condition-coverage"));
            counts[1].0 += covered;
            counts[1].1 += total;
        }
    }
    counts
}

fn check_rates(element: &Element, [lines, branches]: [(u32, u32); 2]) {
    let rate = |(covered, total): (u32, u32)| f64::from(covered) / f64::from(total.max(1));
    let branches = if branches.1 == 0 { (u32::from(lines.0 > 0), 1) } else { branches };
    for (attribute, counts) in [("line-rate", lines), ("branch-rate", branches)] {
        let told: f64 = element.attribute(attribute).parse().unwrap();
        let difference = rate(counts) - told;
        assert!((0.0..0.0001).contains(&difference), "{attribute} of {}: {told}", element.name());
    }
}

fn sum(counts: impl Iterator<Item = [(u32, u32); 2]>) -> [(u32, u32); 2] {
    counts.fold([(0, 0); 2], |sums, counts| {
        [0, 1].map(|kind| (sums[kind].0 + counts[kind].0, sums[kind].1 + counts[kind].1))
    })
}

/// The document has the form of its type, and every rate is that of the lines below.
fn check_document(root: &Element) {
    check_form(root);
    for method in root.all("method") {
        check_rates(method, counted(&method.children()[0]));
    }
    let class_counts = |class: &Element| counted(&class.children()[1]);
    for class in root.all("class") {
        check_rates(class, class_counts(class));
    }
    for package in root.all("package") {
        check_rates(package, sum(package.all("class").into_iter().map(class_counts)));
    }
    let all_counts = sum(root.all("class").into_iter().map(class_counts));
    check_rates(root, all_counts);
    let numbers = ["lines-covered", "lines-valid", "branches-covered", "branches-valid"];
    let told: [u32; 4] = numbers.map(|number| root.attribute(number).parse().unwrap());
    let [lines, branches] = all_counts;
    assert_eq!(told, [lines.0, lines.1, branches.0, branches.1]);
}

#[test]
fn documents_have_the_form_of_their_type() {
    let mut without_kernels = sample::flawless();
    without_kernels.kernels.clear();
    let mut with_functions = sample::evidence();
    with_functions.campaign.project.criteria.push(CriterionName::Function.into());
    let uncovered = |status: Status| {
        let mut evidence = sample::flawless();
        let coverage = &mut evidence.kernels[0].coverage;
        let lists = [&mut coverage.statements, &mut coverage.branches, &mut coverage.points];
        lists.into_iter().flatten().for_each(|item: &mut SimpleObligation| item.status = status);
        evidence
    };
    for evidence in [
        sample::evidence(),
        sample::flawless(),
        without_kernels,
        with_functions,
        uncovered(Status::Uncovered),
        uncovered(Status::Undetermined),
    ] {
        check_document(&cobertura(&evidence));
    }
    let standing = Standing::Unverified(vec!["a problem".to_owned()]);
    let presentation = Presentation { standing, ..Presentation::default() };
    let stamped = render(&sample::evidence(), FormatName::Cobertura, &presentation).unwrap();
    check_document(&document(&String::from_utf8(stamped).unwrap()));
}

/// The sample with functions that reach to the brace that closes them.
fn with_bodies() -> Evidence {
    let mut evidence = sample::flawless();
    for kernel in &mut evidence.kernels {
        let texts: Vec<String> =
            kernel.structure.files.iter().map(|file| file.text.clone()).collect();
        for function in &mut kernel.structure.functions {
            let body = &texts[function.span.file.0 as usize][function.span.start as usize..];
            let end = body.find("\n}").map_or(body.len(), |line_end| line_end + 2);
            function.span.end = function.span.start + end as u32;
        }
    }
    evidence
}

/// Rate of branches, and lines and branches that stand below, of `main` of the first kernel.
fn main_method(evidence: &Evidence) -> (String, [(u32, u32); 2]) {
    let root = cobertura(evidence);
    check_document(&root);
    let classes = root.all("class");
    let naive = classes
        .into_iter()
        .find(|class| class.attribute("filename") == "glsl/matmul_naive.comp")
        .unwrap();
    let methods = naive.all("method");
    let method = methods.into_iter().find(|method| method.attribute("name") == "main").unwrap();
    (method.attribute("branch-rate").to_owned(), counted(&method.children()[0]))
}

#[test]
fn a_method_has_the_lines_and_branches_of_its_function() {
    let mut evidence = with_bodies();
    // The header and four statements; the outcomes of one decision.
    assert_eq!(main_method(&evidence), ("1".to_owned(), [(5, 5), (2, 2)]));
    for kernel in &mut evidence.kernels {
        kernel.coverage.decisions.iter_mut().for_each(|decision| {
            decision.outcomes[0].status = Status::Uncovered;
        });
    }
    assert_eq!(main_method(&evidence), ("0.5000".to_owned(), [(5, 5), (1, 2)]));
    // Without branches none is left out, unless nothing was executed.
    evidence.kernels.iter_mut().for_each(|kernel| kernel.coverage.decisions.clear());
    assert_eq!(main_method(&evidence), ("1".to_owned(), [(5, 5), (0, 0)]));
    for kernel in &mut evidence.kernels {
        let coverage = &mut kernel.coverage;
        let executed = coverage.statements.iter_mut().chain(&mut coverage.points);
        executed.for_each(|item| item.status = Status::Uncovered);
    }
    assert_eq!(main_method(&evidence), ("0.0000".to_owned(), [(0, 5), (0, 0)]));
}

#[test]
#[should_panic(expected = "class has no attribute package")]
fn an_attribute_that_the_type_does_not_have_is_told() {
    let text = String::from_utf8(rendered(&sample::flawless(), FormatName::Cobertura)).unwrap();
    check_form(&document(&text.replace("<class name", "<class package=\"x\" name")));
}

#[test]
#[should_panic(expected = "methods in class")]
fn an_order_that_the_type_does_not_have_is_told() {
    let text = String::from_utf8(rendered(&sample::flawless(), FormatName::Cobertura)).unwrap();
    check_form(&document(&text.replacen("<methods>", "<lines></lines><methods>", 1)));
}
