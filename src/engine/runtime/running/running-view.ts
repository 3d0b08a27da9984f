import { apiVersionOf } from '#util/gvk.ts';
import type { MigrationView } from '../crd/version-view.ts';
import type { DefinitionView, NextRevision } from '../definition-view.ts';
import type { DefinitionTask } from '../definitions/decide.ts';
import type { Rejection } from '../desired-definition.ts';
import type { Finalization } from '../finalize/finalization.ts';
import type { ActiveRevisions } from './active-revisions.ts';
import type { RunTask } from './same-task.ts';

const nothing = { instances: 0, orphaned: 0, queued: 0, problems: [] } as const;

/** A step of a revision that is being prepared. */
export type Progress = Omit<NextRevision, 'revision'>;

/** How far a definition is that runs or is starting. */
interface RunningState {
  readonly active: ActiveRevisions | undefined;
  readonly state: DefinitionView['state'];
  /** The current step of the desired revision. */
  readonly progress: Progress;
  /** What parts of the view show of the installed CRD. */
  readonly ofCrd: Partial<DefinitionView>;
  readonly migration: MigrationView | undefined;
  /** Why the cluster rejects the desired revision. */
  readonly rejection: Rejection | undefined;
}

/** What a definition shows that runs or is starting. */
export function runningView(
  { desired }: RunTask,
  { active, state, progress, ofCrd, migration, rejection: ofCluster }: RunningState,
): DefinitionView {
  const { rejection = ofCluster, located, isPaused } = desired;
  const { name, revision, kind } = (active?.newest.located ?? located).definition;
  const wanted = located.definition.revision;
  return {
    name,
    revision,
    apiVersion: apiVersionOf(kind.gvk),
    kind: kind.gvk.kind,
    state,
    ...(active?.shown ?? nothing),
    ...ofCrd,
    ...(migration && { migration }),
    ...(rejection && { rejection }),
    ...(wanted !== revision &&
      ofCluster === undefined && { next: { revision: wanted, ...progress } }),
    ...(isPaused && { isPaused: true }),
  };
}

/** What a definition shows that does not run. */
export function idleView(
  name: string,
  task: Exclude<DefinitionTask, RunTask>,
  finalization: Finalization | undefined,
): DefinitionView {
  const { gvk } = (task.kind === 'finalize' && task.uninstall?.located.definition.kind) || {};
  return {
    name,
    revision: '',
    apiVersion: gvk === undefined ? '' : apiVersionOf(gvk),
    kind: gvk?.kind ?? '',
    state:
      task.kind === 'finalize' && finalization !== undefined
        ? finalization.stateFor(task)
        : { kind: 'starting', message: task.message },
    ...nothing,
    instances: finalization?.remaining ?? 0,
    ...(finalization?.isCounting && { isCounting: true }),
  };
}
