import { kindText, parseKinds } from '#reconcile';
import type { GroupKind } from '#util/gvk.ts';
import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { RolloutRecord, RolloutView } from './rollout/rollout-view.ts';

/** A revision in the status of a definition. */
export interface RecordedRevision {
  readonly revision: string;
  /** As written. */
  readonly spec: JsonObject;
  /** Where it is written. @default undefined: it comes from an object, or was recorded by an earlier version */
  readonly places?: RecordedPlaces;
}

/** Where the parts of a revision are written, so that messages name the same places before and after a restart. */
export interface RecordedPlaces {
  /** Its manifest, as in diagnostics. */
  readonly file: string;
  /** See `recordPositions`. */
  readonly positions: string;
}

/** Kinds of all resources and children of a definition, current and previous. */
export interface RecordedKinds {
  readonly resources: readonly GroupKind[];
  readonly children: readonly GroupKind[];
}

/** What a status records of a definition in one cluster. */
export interface RecordedState {
  /** The accepted revision first. */
  readonly revisions: readonly RecordedRevision[];
  readonly kinds: RecordedKinds;
  /** The unfinished roll-out. */
  readonly rollout: Pick<RolloutView, 'from' | 'to' | 'state' | 'failed'> | undefined;
}

/** What the status of an `OperatorDefinition` records. Pure. */
export function recordedIn(status: JsonObject): RecordedState {
  return { revisions: revisionsIn(status), kinds: kindsIn(status), rollout: rolloutIn(status) };
}

/** What the entry of a definition in the status of a `Cluster` records: of its revisions only their names. Pure. */
export function recordedInEntry(entry: JsonObject): RecordedState {
  const names = [entry.revision, ...listOf(entry.older)].filter((each) => typeof each === 'string');
  const revisions = names.map((revision) => ({ revision, spec: {} }));
  return { ...recordedIn(entry), revisions };
}

/** The state that a status records. Pure. */
export function stateIn({ revisions, kinds, rollout }: RecordedState): RecordedState {
  return { revisions, kinds, rollout };
}

/** The kinds in the form of the status, sorted. Pure. */
export function kindsStatus({ resources, children }: RecordedKinds): {
  readonly resources: readonly string[];
  readonly children: readonly string[];
} {
  const sorted = (kinds: readonly GroupKind[]) => [...new Set(kinds.map(kindText))].sort();
  return { resources: sorted(resources), children: sorted(children) };
}

function revisionsIn({ revisions }: JsonObject): readonly RecordedRevision[] {
  return Iterator.from(listOf(revisions))
    .filter(isJsonObject)
    .flatMap(({ revision, spec, places }) =>
      typeof revision === 'string' && isJsonObject(spec)
        ? [{ revision, spec, ...placesIn(places) }]
        : [],
    )
    .toArray();
}

function placesIn(value: Json | undefined): Pick<RecordedRevision, 'places'> {
  if (!isJsonObject(value)) return {};
  const { file, positions } = value;
  return typeof file === 'string' && typeof positions === 'string'
    ? { places: { file, positions } }
    : {};
}

function rolloutIn({ rollout }: JsonObject): RolloutRecord | undefined {
  if (!isJsonObject(rollout)) return undefined;
  const { from, to, state, failed } = rollout;
  if (typeof from !== 'string' || typeof to !== 'string') return undefined;
  return {
    from,
    to,
    state: state === 'held' || state === 'stopped' ? state : 'rolling',
    failed: listOf(failed).filter((uid) => typeof uid === 'string'),
  };
}

/** The recorded kinds. */
function kindsIn({ kinds }: JsonObject): RecordedKinds {
  const { resources, children } = isJsonObject(kinds) ? kinds : {};
  const read = (names: Json | undefined) =>
    listOf(names).flatMap((name) => (typeof name === 'string' ? parseKinds(name) : []));
  return { resources: read(resources), children: read(children) };
}

/** The value if it is a list; otherwise an empty one. */
export function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

/** Status of the live object. */
export function liveStatus({ status }: KubeObject): JsonObject {
  return isJsonObject(status) ? status : {};
}
