import { isSameKind } from '#definition';
import { deepEqual } from '#util/deep-equal.ts';
import type { DefinitionTask, FinalizeTask } from '../definitions/decide.ts';

export type RunTask = Extract<DefinitionTask, { kind: 'run' }>;

/** Whether what runs can switch to the next task. A definition of another kind counts as another definition. Pure. */
export function isSameRun(before: RunTask, next: RunTask): boolean {
  return isSameKind(before.desired.located, next.desired.located);
}

/** Whether two tasks that do not run do the same. Pure. */
export function isSameTask(before: DefinitionTask, next: DefinitionTask): boolean {
  if (before.kind === 'wait' && next.kind === 'wait') return before.message === next.message;
  if (before.kind !== 'finalize' || next.kind !== 'finalize') return false;
  const about = ({ isAbandoned = false, isPaused = false, uninstall: request }: FinalizeTask) => ({
    isAbandoned,
    isPaused,
    policy: request?.policy,
    sinceMs: request?.sinceMs,
    revision: request?.located.definition.revision,
  });
  return deepEqual(about(before), about(next));
}

/** Pure. */
export function isPausedTask(task: DefinitionTask): boolean {
  if (task.kind === 'run') return task.desired.isPaused === true;
  return task.kind !== 'wait' && task.isPaused === true;
}

/** Whether two tasks that run the same revision are shown alike. Pure. */
export function isShownAlike({ desired: a }: RunTask, { desired: b }: RunTask): boolean {
  return a.isPaused === b.isPaused && deepEqual(a.rejection, b.rejection);
}
