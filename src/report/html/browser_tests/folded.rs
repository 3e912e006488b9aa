//! Tables of which only the caption is shown at first.

use super::*;
use vkcert_model::coverage::{SimpleObligation, Status};
use vkcert_model::id::{ObligationId, PairId};
use vkcert_model::pair_obligation::{
    CouplingClass, KernelPairs, NamedBy, PairObligation, PairPlace, ShownBy,
};
use vkcert_model::records::Reach;

/// The first kernel has a pair that a test shows.
fn with_shown_pair() -> Evidence {
    let mut evidence = sample::evidence();
    let kernel = &mut evidence.kernels[0];
    let use_place = PairPlace {
        kernel: None,
        file: kernel.source.clone(),
        line: 8,
        column: 3,
        function: "main".to_owned(),
        instruction: 7,
        statement: None,
        text: "unmistakable = given[i];".to_owned(),
        named_by: NamedBy::Place,
    };
    let obligation = PairObligation {
        id: PairId(1),
        class: CouplingClass::HostToKernel,
        object: "given[]".to_owned(),
        definition: None,
        use_place,
        barrier: None,
        shown_by: ShownBy::Read,
        reach: Reach::Possible,
        pairs: Vec::new(),
    };
    kernel.pairs = Some(KernelPairs { obligations: vec![obligation], ..KernelPairs::default() });
    let row = SimpleObligation {
        id: ObligationId::from("P1".to_owned()),
        status: Status::Covered,
        ..kernel.coverage.statements[0].clone()
    };
    kernel.coverage.coupling = Some(vec![row]);
    evidence
}

#[test]
fn a_folded_table_opens_by_its_caption_and_where_the_search_finds_a_row() {
    let told = in_browser(
        &with_shown_pair(),
        1400,
        "var table = 'details.folded table';
         var told = [visible(table).length];
         var summary = document.querySelector('details.folded > summary');
         told.push(summary.textContent);
         await find('unmistakable');
         told.push(visible(table).length);
         await find('');
         told.push(visible(table).length);
         summary.click();
         told.push(visible(table).length);
         return told;",
    );
    assert_eq!(told, serde_json::json!([0, "Pairs that tests show, sequential (1)", 1, 0, 1]));
}
