import type { Express } from 'express';
import { addRoute } from '../answer.ts';
import { guardChangeSchema, jobScheduleSchema, nothing, tickScriptSchema } from '../lab/contract.ts';
import type { CleanUpJob } from './cleanup.ts';
import { cron, jobLock } from './settings.ts';

const changeSchema = guardChangeSchema.extend({ lock: guardChangeSchema.shape.lock.pipe(jobLock) });
const scheduleSchema = jobScheduleSchema.safeExtend({ cron: cron().optional() });

/** The calls of the lab listener that see, run and change the clean-up. `docs/http-api.md` describes them. */
export function addJobRoutes(app: Express, job: CleanUpJob) {
  addRoute(app, '/jobs/cleanup', {
    get: job.state,
    post(request) {
      // A body of JSON is what a web page of another origin can't send without asking first, so none is not enough.
      nothing.parse(request.body ?? 'none');
      return job.tick();
    },
  });
  addRoute(app, '/job-lock', {
    put(request) {
      const { lock, ...timing } = changeSchema.parse(request.body);
      job.setLock(lock, timing);
      return job.state();
    },
  });
  addRoute(app, '/job-schedule', {
    put(request) {
      job.setSchedule(scheduleSchema.parse(request.body));
      return job.state();
    },
  });
  addRoute(app, '/next-cleanup', {
    put(request) {
      const script = tickScriptSchema.parse(request.body);
      job.scriptNextTick(script);
      return script;
    },
  });
}
