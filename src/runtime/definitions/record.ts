import { kindText, parseKinds } from '../../reconcile/index.ts';
import type { GroupKind } from '../../util/gvk.ts';
import { isJsonObject, type Json, type JsonObject } from '../../util/json.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import {
  abandonAnnotation,
  definitionFinalizer,
  rejectedAnnotation,
  runtimeLabel,
  sourceRefAnnotation,
} from '../../util/stored-names.ts';
import type { RolloutRecord } from '../definition-view.ts';
import type { DefinitionOrigin } from '../desired-definition.ts';
import { controlsOf } from '../publish/definition-controls.ts';
import { originOfPublished, withdrawnAtMs } from '../publish/publication.ts';

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

/** A parsed `OperatorDefinition` object. */
export interface DefinitionRecord {
  readonly object: KubeObject;
  readonly name: string;
  /** Origin of its manifest. */
  readonly origin: DefinitionOrigin;
  /** The source reference annotation, set together with the source label. */
  readonly sourceRef: string | undefined;
  /** The runtime that owns it. Undefined: none. */
  readonly runtime: string | undefined;
  /** Errors of the newest manifest: `file:line:column: message. Hint`, one each. */
  readonly rejected: readonly string[];
  /** When its manifest was removed, in ms since the epoch. Undefined: it exists. */
  readonly withdrawnAtMs: number | undefined;
  readonly isPaused: boolean;
  /** Revision whose deletions users have approved. */
  readonly approvedDeletions: string | undefined;
  readonly isDeleted: boolean;
  /** Whether its resources are orphaned when it is deleted. */
  readonly isAbandoned: boolean;
  readonly hasFinalizer: boolean;
  /** The accepted revision first. */
  readonly revisions: readonly RecordedRevision[];
  readonly rollout: RolloutRecord | undefined;
  readonly kinds: RecordedKinds;
}

/** The runtime that owns an `OperatorDefinition` object. Undefined: none. Pure. */
export function runtimeOf({ metadata: { labels } }: KubeObject): string | undefined {
  return labels?.[runtimeLabel];
}

/** Parses an `OperatorDefinition` object. Pure. */
export function recordOf(object: KubeObject): DefinitionRecord {
  const { name, annotations = {}, finalizers, deletionTimestamp } = object.metadata;
  const status = liveStatus(object);
  const rejected = annotations[rejectedAnnotation] ?? '';
  return {
    object,
    name,
    origin: originOfPublished(object) ?? { source: 'object', ref: name },
    sourceRef: annotations[sourceRefAnnotation],
    runtime: runtimeOf(object),
    ...controlsOf(object.metadata),
    rejected: rejected === '' ? [] : rejected.split('\n'),
    withdrawnAtMs: withdrawnAtMs(object),
    isDeleted: deletionTimestamp !== undefined,
    isAbandoned: annotations[abandonAnnotation] === 'true',
    hasFinalizer: finalizers?.includes(definitionFinalizer) === true,
    revisions: revisionsIn(status),
    rollout: rolloutIn(status),
    kinds: kindsIn(status),
  };
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

/** The unfinished roll-out in a status or in an entry of a member. Pure. */
export function rolloutIn({ rollout }: JsonObject): RolloutRecord | undefined {
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

/** The recorded kinds in a status or in an entry of a member. Pure. */
export function kindsIn({ kinds }: JsonObject): RecordedKinds {
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
