//! Records of a dispatch: kept natively, or read from the buffer that the module writes.

use super::early::Early;
use super::job_run::Session;
use super::notes::over_memory;
use crate::machine::printer::MOST_LINES;
use crate::machine::recorder::Recorder;
use vkcert_exec::Completion;
use vkcert_instrument::{self as instrument, DispatchSize, RecordForm};
use vkcert_model::printed::{Printed, PrintedLine};
use vkcert_model::records::MarkerTable;

/// First word of a record buffer; any value does, since the canary depends on it.
const NONCE: u32 = 0x9E37_79B9;

impl<'a> Session<'a> {
    /// Gives a module that records in a buffer a fresh one for a dispatch.
    pub(crate) fn fill_record_buffer(
        &mut self,
        module: usize,
        size: &DispatchSize,
    ) -> Result<(), Early> {
        let (Some(buffer), Some(store)) = (self.record_binding(module), self.record_stores[module])
        else {
            return Ok(());
        };
        let form = RecordForm::of_buffer(buffer);
        let unsupported = |limit: instrument::RecordLimit| {
            Early::Completion(Completion::Unsupported { what: limit.to_string() })
        };
        let bytes = form.word_count(size).map_err(unsupported)? * 4;
        if bytes > self.job.limits.memory_bytes {
            return Err(over_memory(bytes, self.job.limits.memory_bytes));
        }
        self.stores[store].words = form.initial_words(size, NONCE).map_err(unsupported)?.into();
        Ok(())
    }

    /// Reads a dispatch's records back, if they can be trusted.
    pub(crate) fn read_record_buffer(
        &mut self,
        module: usize,
        dispatch: usize,
        size: &DispatchSize,
    ) -> Result<(), String> {
        let (Some(buffer), Some(store)) = (self.record_binding(module), self.record_stores[module])
        else {
            return Ok(());
        };
        let key = &self.job.modules[module].key;
        let records = instrument::decode_records(buffer, size, &self.stores[store].words, NONCE)
            .map_err(|why| format!("the records of `{key}` cannot be trusted: {why}"))?;
        self.records.entry(*key).or_default().merge(&records);
        if let Some(everyone) = &mut self.everyone {
            let kept = RecordForm::of_buffer(buffer).by_invocation(
                size,
                &self.stores[store].words,
                everyone.bits(),
            );
            kept.into_iter().for_each(|kept| everyone.add(dispatch, kept));
        }
        Ok(())
    }

    /// What a dispatch records in, where its module records natively.
    pub(crate) fn recorder(
        &mut self,
        markers: Option<&MarkerTable>,
        size: &DispatchSize,
    ) -> Result<Recorder, Early> {
        let mut recorder = Recorder::new(markers);
        if let (Some(everyone), Some(_)) = (&mut self.everyone, markers) {
            let invocations = size.invocation_count();
            if u32::try_from(invocations).is_err() {
                let what = format!("records by invocation of {invocations} invocations");
                return Err(Early::Completion(Completion::Unsupported { what }));
            }
            let (bytes, most) = (everyone.take(size), self.job.limits.memory_bytes);
            if bytes > u128::from(most) {
                return Err(over_memory(bytes.try_into().unwrap_or(u64::MAX), most));
            }
            recorder.keep_everyone(everyone.bits(), size.local_size);
        }
        Ok(recorder)
    }

    /// Adds what a dispatch printed.
    pub(crate) fn keep_printed(&mut self, new: Printed) {
        let (room, dispatch) =
            (MOST_LINES - self.printed.lines.len(), self.touched.len() as u32 - 1);
        self.printed.omitted += new.omitted + new.lines.len().saturating_sub(room) as u64;
        let lines = new.lines.into_iter().take(room);
        self.printed.lines.extend(lines.map(|line| PrintedLine { dispatch, ..line }));
    }
}
