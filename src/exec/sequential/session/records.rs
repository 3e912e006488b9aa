//! Records of a dispatch: kept natively, or read from the buffer that the module writes.

use super::early::EarlyEnd;
use super::job_run::JobSession;
use super::notes::memory_limit_end;
use crate::machine::printer::MOST_LINES;
use crate::machine::recorder::Recorder;
use vkcert_exec::Completion;
use vkcert_instrument::{self as instrument, DispatchSize, RecordForm};
use vkcert_model::printed::{Printed, PrintedLine};
use vkcert_model::records::MarkerTable;

/// First word of a record buffer; any value does, since the canary depends on it.
const NONCE: u32 = 0x9E37_79B9;

impl<'a> JobSession<'a> {
    /// Gives a module that records in a buffer a fresh one for a dispatch.
    pub(crate) fn fill_record_buffer(
        &mut self,
        module_index: usize,
        dispatch_size: &DispatchSize,
    ) -> Result<(), EarlyEnd> {
        let (Some(record_buffer), Some(record_store)) =
            (self.record_binding(module_index), self.record_stores[module_index])
        else {
            return Ok(());
        };
        let record_form = RecordForm::of_buffer(record_buffer);
        let unsupported = |record_limit: instrument::RecordLimit| {
            EarlyEnd::Completion(Completion::Unsupported { what: record_limit.to_string() })
        };
        let byte_count = record_form.word_count(dispatch_size).map_err(unsupported)? * 4;
        if byte_count > self.job.limits.memory_bytes {
            return Err(memory_limit_end(byte_count, self.job.limits.memory_bytes));
        }
        self.stores[record_store].words =
            record_form.initial_words(dispatch_size, NONCE).map_err(unsupported)?.into();
        Ok(())
    }

    /// Reads a dispatch's records back, if they can be trusted.
    pub(crate) fn read_record_buffer(
        &mut self,
        module_index: usize,
        dispatch_index: usize,
        dispatch_size: &DispatchSize,
    ) -> Result<(), String> {
        let (Some(record_buffer), Some(record_store)) =
            (self.record_binding(module_index), self.record_stores[module_index])
        else {
            return Ok(());
        };
        let module_key = &self.job.modules[module_index].key;
        let records = instrument::decode_records(
            record_buffer,
            dispatch_size,
            &self.stores[record_store].words,
            NONCE,
        )
        .map_err(|distrust_reason| {
            format!("the records of `{module_key}` cannot be trusted: {distrust_reason}")
        })?;
        self.records.entry(*module_key).or_default().merge(&records);
        if let Some(bit_witnesses) = &mut self.bit_witnesses {
            let kept_invocations = RecordForm::of_buffer(record_buffer).by_invocation(
                dispatch_size,
                &self.stores[record_store].words,
                bit_witnesses.bits(),
            );
            kept_invocations.into_iter().for_each(|kept_invocations| {
                bit_witnesses.add_dispatch(dispatch_index, kept_invocations)
            });
        }
        Ok(())
    }

    /// What a dispatch records in, where its module records natively.
    pub(crate) fn new_recorder(
        &mut self,
        marker_table: Option<&MarkerTable>,
        dispatch_size: &DispatchSize,
    ) -> Result<Recorder, EarlyEnd> {
        let mut recorder = Recorder::new(marker_table);
        if let (Some(bit_witnesses), Some(_)) = (&mut self.bit_witnesses, marker_table) {
            let invocation_count = dispatch_size.invocation_count();
            if u32::try_from(invocation_count).is_err() {
                let unsupported_records =
                    format!("records by invocation of {invocation_count} invocations");
                return Err(EarlyEnd::Completion(Completion::Unsupported {
                    what: unsupported_records,
                }));
            }
            let (needed_bytes, memory_limit) =
                (bit_witnesses.reserve_dispatch(dispatch_size), self.job.limits.memory_bytes);
            if needed_bytes > u128::from(memory_limit) {
                return Err(memory_limit_end(
                    needed_bytes.try_into().unwrap_or(u64::MAX),
                    memory_limit,
                ));
            }
            recorder.keep_everyone(bit_witnesses.bits(), dispatch_size.local_size);
        }
        Ok(recorder)
    }

    /// Adds what a dispatch printed.
    pub(crate) fn keep_printed(&mut self, new_lines: Printed) {
        let (free_lines, dispatch_index) =
            (MOST_LINES - self.printed.lines.len(), self.touched.len() as u32 - 1);
        self.printed.omitted +=
            new_lines.omitted + new_lines.lines.len().saturating_sub(free_lines) as u64;
        let kept_lines = new_lines.lines.into_iter().take(free_lines);
        self.printed
            .lines
            .extend(kept_lines.map(|line| PrintedLine { dispatch: dispatch_index, ..line }));
    }
}
