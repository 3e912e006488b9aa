//! The simplest schedule that still shows what another one showed.
//!
//! Knows: the schedules that ran and those that do part of what one does.
//! Promises: a smaller schedule is taken only where it shows a difference of its own.
//! Does not cover: combinations of dispatches; each is permuted alone.

use super::{ScheduleTrial, ShownContents, ShownCoverage};
use crate::CampaignError;
use crate::schedules::ending::ScheduleEnding;
use vkcert_exec::schedule::Dispatches;
use vkcert_model::schedule::Schedule;

impl ScheduleTrial<'_, '_> {
    /// The schedules that do part of what one does and have not run.
    fn untried_schedules(&self, schedule: Schedule) -> Vec<Schedule> {
        schedule
            .simpler_schedules()
            .into_iter()
            .filter(|simpler_schedule| !self.found.ran.contains(simpler_schedule))
            .collect()
    }

    /// The simplest schedule that does part of what this one does and still leaves other contents.
    pub(super) fn made_smaller(
        &mut self,
        shown: ShownContents,
    ) -> Result<ShownContents, CampaignError> {
        for schedule in self.untried_schedules(shown.schedule) {
            let run = self.means.execute_schedule(self.test_engine, schedule, Dispatches::All)?.run;
            match self.ending_of_schedule(&run, schedule)? {
                ScheduleEnding::Different(difference) => {
                    return Ok(ShownContents { schedule, difference, run });
                }
                ScheduleEnding::Equal
                | ScheduleEnding::Varying(_)
                | ScheduleEnding::Broken(_)
                | ScheduleEnding::Unknown(_) => {}
            }
        }
        Ok(shown)
    }

    /// The same of coverage.
    pub(super) fn covered_smaller(
        &mut self,
        covered: ShownCoverage,
    ) -> Result<ShownCoverage, CampaignError> {
        for schedule in self.untried_schedules(covered.schedule) {
            match self.coverage_differences(schedule)? {
                Ok(differences) if !differences.is_empty() => {
                    return Ok(ShownCoverage { schedule, differences });
                }
                Ok(_) | Err(_) => {}
            }
        }
        Ok(covered)
    }

    /// The dispatches of which each, permuted alone, changes the contents.
    pub(super) fn dispatches_alone(
        &mut self,
        schedule: Schedule,
    ) -> Result<Vec<usize>, CampaignError> {
        let permuted = self.means.permuted_dispatches();
        if permuted.len() == 1 {
            return Ok(permuted);
        }
        let mut alone = Vec::new();
        for dispatch in permuted {
            let run = self.execute_order(schedule, Dispatches::One(dispatch))?;
            match self.ending_of_schedule(&run, schedule)? {
                ScheduleEnding::Equal | ScheduleEnding::Unknown(_) => {}
                ScheduleEnding::Different(_)
                | ScheduleEnding::Varying(_)
                | ScheduleEnding::Broken(_) => alone.push(dispatch),
            }
        }
        Ok(alone)
    }
}
