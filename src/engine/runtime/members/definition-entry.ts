import { foreignText } from '#util/foreign-text.ts';
import type { JsonObject } from '#util/json.ts';
import type { ClusterFailure, DefinitionView } from '../definition-view.ts';
import { blockedBy, fieldsOfParts } from '../view-parts.ts';

const states: Readonly<Partial<Record<DefinitionView['state']['kind'], string>>> = {
  running: 'Running',
  finalizing: 'Finalizing',
  uninstalling: 'Uninstalling',
};
/** In a status. */
const maxMessage = 1_024;

/** Why a definition does not run in a member. */
export type MemberFailure = Omit<ClusterFailure, 'cluster'>;

/** Undefined: it runs, or is starting. Pure. */
export function failureIn(view: DefinitionView): MemberFailure | undefined {
  const failure = reasonIn(view);
  // It quotes objects of the member.
  return failure && { ...failure, message: foreignText(failure.message, maxMessage) };
}

function reasonIn(view: DefinitionView): MemberFailure | undefined {
  const { state, rejection } = view;
  const { message, diagnostics } = state.kind === 'rejected' ? state : (rejection ?? {});
  if (message !== undefined)
    return { reason: 'Rejected', message: [message, ...(diagnostics ?? [])].join('\n') };
  if (state.kind === 'failing')
    return { reason: state.isForbidden === true ? 'Forbidden' : 'Failing', message: state.message };
  if (state.kind === 'waiting') return { reason: 'KindMissing', message: state.message };
  const stuck = blockedBy(view, ({ progress }) => progress === 'stuck');
  return stuck && { reason: stuck.reason, message: stuck.message };
}

/** The entry of a definition in the status of a `Cluster`. Pure. */
export function entryOf(
  name: string,
  view: DefinitionView,
  failure: MemberFailure | undefined,
): JsonObject {
  const { state, instances, readyInstances = 0 } = view;
  const shown = failure === undefined ? (states[state.kind] ?? 'Starting') : 'Failing';
  return {
    name,
    state: shown,
    resources: instances,
    ready: readyInstances,
    ...(failure && { reason: failure.reason, message: failure.message }),
    ...fieldsOfParts((part) => part.entryOf?.(view)),
  };
}
