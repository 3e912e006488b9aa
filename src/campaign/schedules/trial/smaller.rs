//! The simplest schedule that still shows what another one showed.
//!
//! Knows: the schedules that ran and those that do part of what one does.
//! Promises: a smaller schedule is taken only where it shows a difference of its own.
//! Does not cover: combinations of dispatches; each is permuted alone.

use super::{Covered, Shown, Trial};
use crate::CampaignError;
use crate::schedules::ending::Ending;
use vkcert_exec::schedule::Dispatches;
use vkcert_model::schedule::Schedule;

impl Trial<'_, '_> {
    /// The schedules that do part of what one does and have not run.
    fn untried(&self, schedule: Schedule) -> Vec<Schedule> {
        schedule
            .simpler_schedules()
            .into_iter()
            .filter(|simpler| !self.found.ran.contains(simpler))
            .collect()
    }

    /// The simplest schedule that does part of what this one does and still leaves other contents.
    pub(super) fn made_smaller(&mut self, shown: Shown) -> Result<Shown, CampaignError> {
        for schedule in self.untried(shown.schedule) {
            let run = self.means.execute(self.engine, schedule, Dispatches::All)?.run;
            match self.ending(&run, schedule)? {
                Ending::Different(difference) => return Ok(Shown { schedule, difference, run }),
                Ending::Equal | Ending::Varying(_) | Ending::Broken(_) | Ending::Unknown(_) => {}
            }
        }
        Ok(shown)
    }

    /// The same of coverage.
    pub(super) fn covered_smaller(&mut self, covered: Covered) -> Result<Covered, CampaignError> {
        for schedule in self.untried(covered.schedule) {
            match self.differences(schedule)? {
                Ok(differences) if !differences.is_empty() => {
                    return Ok(Covered { schedule, differences });
                }
                Ok(_) | Err(_) => {}
            }
        }
        Ok(covered)
    }

    /// The dispatches of which each, permuted alone, changes the contents.
    pub(super) fn alone(&mut self, schedule: Schedule) -> Result<Vec<usize>, CampaignError> {
        let permuted = self.means.dispatches();
        if permuted.len() == 1 {
            return Ok(permuted);
        }
        let mut alone = Vec::new();
        for dispatch in permuted {
            let run = self.execute(schedule, Dispatches::One(dispatch))?;
            match self.ending(&run, schedule)? {
                Ending::Equal | Ending::Unknown(_) => {}
                Ending::Different(_) | Ending::Varying(_) | Ending::Broken(_) => {
                    alone.push(dispatch)
                }
            }
        }
        Ok(alone)
    }
}
