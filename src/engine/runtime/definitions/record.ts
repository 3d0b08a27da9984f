import type { KubeObject } from '#util/kube-object.ts';
import {
  abandonAnnotation,
  definitionFinalizer,
  rejectedAnnotation,
  runtimeLabel,
  sourceRefAnnotation,
} from '#util/stored-names.ts';
import type { DefinitionOrigin } from '../desired-definition.ts';
import { controlsOf } from '../publish/definition-controls.ts';
import { originOfPublished, withdrawnAtMs } from '../publish/publication.ts';
import { liveStatus, type RecordedState, recordedIn } from '../recorded-state.ts';

/** A parsed `OperatorDefinition` object. */
export interface DefinitionRecord extends RecordedState {
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
    ...recordedIn(status),
  };
}
