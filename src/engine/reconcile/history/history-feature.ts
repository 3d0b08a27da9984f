import type { HistoryPlan } from '#compile';
import { type Problem, problemOfWaiting } from '../failure.ts';
import { hasFinalizer, isTerminating } from '../ownership-claims.ts';
import type { Feature, Outdated } from '../pass/feature.ts';
import type { Pass, ReadResult } from '../pass/pass.ts';
import type { RevisionHistory } from './revision-history.ts';

/** The part of a recorder that needs no rights to write. */
type Reader = Pick<RevisionHistory, 'entries' | 'removable' | 'watchErrors' | 'start' | 'stop'>;

/** The versions of a definition as its passes see them where nothing is recorded: `homeostat plan`, previews. */
export function createHistoryReader(reader: Reader): Feature {
  return {
    ...silent(reader),
    start: (signal) => reader.start(signal),
    stop: () => reader.stop(),
    watchProblems: () =>
      reader.watchErrors().map((problem) => ({ watching: 'history', ...problem })),
  };
}

/** The versions of a definition: its passes name the objects that they read, from which on these are recorded. */
export function createHistory(recorder: RevisionHistory, { isDetached }: HistoryPlan): Feature {
  return {
    ...createHistoryReader(recorder),
    silent: silent(recorder),
    outdated: ({ uid }) =>
      outdatedRecords(recorder.removable(uid), (records, signal) =>
        recorder.remove(records, signal),
      ),
    tap: (read) => read.history && ((key, plan, event) => recorder.noteEvent(key, plan, event)),
    seen(pass, read) {
      const { key, uid, resource } = pass;
      // Versions in other namespaces are deleted by the finalizer.
      if (mayRecord(pass, read) && (!isDetached || hasOwnFinalizer(pass)))
        recorder.observe({ key, uid, resource }, read.plan, read.objects);
    },
    problems: ({ key }) => recorder.problems(key),
    retry: (key) => recorder.retry(key),
    forget: (key) => recorder.forget(key),
  };
}

function silent(reader: Pick<Reader, 'entries' | 'removable'>): Feature {
  return {
    isUsed: true,
    input(uid) {
      const history = reader.entries(uid);
      return history && { history };
    },
    outdated: ({ uid }) => outdatedRecords(reader.removable(uid), async () => undefined),
  };
}

function outdatedRecords(
  candidates: Outdated['candidates'],
  remove: (records: Outdated['candidates'], signal: AbortSignal) => Promise<Problem | undefined>,
): Outdated | undefined {
  if (candidates.length === 0) return undefined;
  return {
    candidates,
    remove: (signal) => remove(candidates, signal),
    kept(reason) {
      const count = candidates.length;
      const what = count === 1 ? '1 version is' : `${count} versions are`;
      const message = `history: ${what} no longer kept; ${reason}`;
      return problemOfWaiting([message], message);
    },
  };
}

/** Is what the read finds known, of a read that keeps versions? */
function mayRecord({ resource }: Pass, { plan, isKnown, problem, request }: ReadResult): boolean {
  const isRead = isKnown && problem === undefined && request !== undefined;
  return plan.history !== undefined && isRead && !isTerminating(resource);
}

function hasOwnFinalizer({ context, resource, effects }: Pass): boolean {
  return effects.hasFinalizer === true || hasFinalizer(resource, context.plan.name);
}
