import type { Express } from 'express';
import { allowOnly } from '../answer.ts';
import { guardChangeSchema, jobScheduleSchema, nothing, tickScriptSchema } from '../lab/contract.ts';
import type { CleanUpJob } from './cleanup.ts';
import { cron, jobLock } from './settings.ts';

const changeSchema = guardChangeSchema.extend({ lock: guardChangeSchema.shape.lock.pipe(jobLock) });
const scheduleSchema = jobScheduleSchema.safeExtend({ cron: cron().optional() });

/** The calls of the lab listener that see, run and change the clean-up. `docs/http-api.md` describes them. */
export function addJobRoutes(app: Express, job: CleanUpJob) {
  app
    .route('/jobs/cleanup')
    .get((_request, response) => void response.json(job.state()))
    // A body of JSON is what a web page of another origin can't send without asking first, so none is not enough.
    .post(async (request, response) => {
      nothing.parse(request.body ?? 'none');
      response.json(await job.tick());
    })
    .all(allowOnly('GET', 'POST'));

  app
    .route('/job-lock')
    .put((request, response) => {
      const { lock, ...timing } = changeSchema.parse(request.body);
      job.setLock(lock, timing);
      response.json(job.state());
    })
    .all(allowOnly('PUT'));

  app
    .route('/job-schedule')
    .put((request, response) => {
      job.setSchedule(scheduleSchema.parse(request.body));
      response.json(job.state());
    })
    .all(allowOnly('PUT'));

  app
    .route('/next-cleanup')
    .put((request, response) => {
      const script = tickScriptSchema.parse(request.body);
      job.scriptNextTick(script);
      response.json(script);
    })
    .all(allowOnly('PUT'));
}
