import { rightText } from '#reconcile';
import type { DefinitionView } from '../definition-view.ts';
import type { RunningDefinition } from '../running/running-definition.ts';
import type { DefinitionTask } from './decide.ts';

/** Where the tasks of definitions are done: in the cluster of this runtime, or in others, too. */
export interface TaskPlaces {
  /** Changes the task of a definition everywhere. Returns at once. */
  setTask(running: RunningDefinition, task: DefinitionTask): void;
  /** Call when the status may contain the accepted revision: before that, it is taken nowhere. */
  recorded(running: RunningDefinition, task: DefinitionTask): void;
  /** What a definition shows, in all clusters. */
  viewOf(running: ShownDefinition, task: DefinitionTask): DefinitionView;
  /** Updates the gauges before a scrape. */
  observe(running: RunningDefinition, task: DefinitionTask): void;
  /** Whether no other cluster has anything of the definition. */
  isDone(name: string): boolean;
  /** Stops the definition in other clusters; resolves when its work there has ended. */
  forget(name: string): Promise<void>;
}

export type ShownDefinition = Pick<RunningDefinition, 'name' | 'view' | 'state' | 'recordError'>;

/** Only the cluster of this runtime. */
export const here: TaskPlaces = {
  setTask: (running, task) => running.want(task),
  recorded: () => undefined,
  viewOf: ({ view, recordError }) => withRecordError(view, recordError),
  observe: (running) => running.observe(),
  isDone: () => true,
  forget: async () => undefined,
};

/** The view of a definition whose status cannot be written: it says so. Pure. */
export function withRecordError(
  view: DefinitionView,
  error: RunningDefinition['recordError'],
): DefinitionView {
  if (error === undefined) return view;
  const reason = error.right === undefined ? error.message : rightText(error.right);
  // It cannot start before its revision is recorded.
  if (view.state.kind === 'starting')
    return { ...view, state: { kind: 'starting', message: reason } };
  return { ...view, problems: [...view.problems, reason] };
}
