//! The nouns of the domain: identifiers, places, obligations, vectors, test procedures, findings,
//! verdicts, evidence.
//!
//! Knows: what each thing is, how it prints and how it is stored in files.
//! Promises: no behaviour but invariants; nothing here compiles, runs or measures.
//! Does not cover: how any of it comes to be (see the layers below in the order of
//! `ARCHITECTURE.md`).

pub mod access_pair;
pub mod agreement;
pub mod altered;
pub mod baseline;
pub mod block_layout;
pub mod boundary;
pub mod campaigns;
pub mod canonical;
pub mod coupling_summary;
pub mod coverage;
pub mod criterion;
pub mod device_type;
pub mod diagnostic;
pub mod document;
pub mod element;
pub mod event;
pub mod evidence;
pub mod exit;
pub mod expectation;
pub mod finding;
pub mod finding_details;
pub mod finding_index;
pub mod finding_subject;
pub mod flow;
pub mod generation;
pub mod id;
pub mod image;
pub mod index_range;
pub mod invocations;
pub mod judged;
pub mod metric;
pub mod mutation;
pub mod object;
pub mod objective;
pub mod open_item;
pub mod pair_obligation;
pub mod path;
pub mod pipelined;
pub mod place;
pub mod printed;
pub mod procedure;
pub mod project;
pub mod provenance;
pub mod random;
pub mod reason;
pub mod records;
pub mod requirement;
pub mod result;
pub mod schedule;
pub mod shard;
pub mod standard;
pub mod structure;
pub mod validation_layer;
pub mod vector;
pub mod verdict;
pub mod vulkan_sc;
pub mod wording;
