import type { KubeObject } from '#util/kube-object.ts';
import type { Random } from '#util/random.ts';
import { sha256Hex } from '#util/sha256.ts';
import { truncateUtf8 } from '../errors.ts';
import type { EventInput } from '../roles.ts';

/** Limits of events.k8s.io/v1, in bytes. */
const noteBytes = 1024;
const wordBytes = 128;
const instanceBytes = 128;
const qualifiedNameBytes = 63;
const objectNameBytes = 253;
const suffixLength = 16;

/** The body of a new Event. */
interface EventBody {
  readonly apiVersion: 'events.k8s.io/v1';
  readonly kind: 'Event';
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly [field: string]: unknown;
}

/** Namespace of an Event: that of its object, or `default` for cluster-scoped objects. */
function eventNamespace({ metadata: { namespace } }: KubeObject): string {
  return namespace ?? 'default';
}

/** Key of an Event series: everything but the time. */
export function eventKey(event: EventInput): string {
  const { regarding, type, reason, action, definition, note } = event;
  const { apiVersion, kind, metadata } = regarding;
  const { namespace = '', name, uid = '' } = metadata;
  const about = [type, action, reason, definition, apiVersion, kind, namespace, name, uid];
  // Including the note: a series shows only the note of its first occurrence, so another child needs another series.
  return JSON.stringify([...about, note]);
}

export function createEventBody(
  event: EventInput,
  { nowMs, instance, random }: { nowMs: number; instance: string; random: Random },
): EventBody {
  const { regarding, type, reason, action, note, definition } = event;
  const namespace = eventNamespace(regarding);
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name: eventName(regarding.metadata.name, suffixOf(event, random)), namespace },
    eventTime: microTime(nowMs),
    reportingController: controllerName(definition),
    reportingInstance: truncateUtf8(instance, instanceBytes),
    action: truncateUtf8(action, wordBytes),
    reason: truncateUtf8(reason, wordBytes),
    regarding: referenceTo(regarding),
    note: truncateUtf8(note, noteBytes),
    type,
  };
}

/** RFC 3339 with microseconds, as required for `eventTime`. */
export function microTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z');
}

function referenceTo({ apiVersion, kind, metadata }: KubeObject): Record<string, string> {
  const { namespace, name, uid, resourceVersion } = metadata;
  return {
    apiVersion,
    kind,
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
}

/** `homeostat.dev/<definition>`: a qualified name, its second part 63 characters at most and alphanumeric at its ends. */
function controllerName(definition: string): string {
  const word = definition
    .replaceAll(/[^A-Za-z0-9._-]/g, '-')
    .slice(0, qualifiedNameBytes)
    .replaceAll(/^[._-]+|[._-]+$/g, '');
  return word === '' ? 'homeostat.dev/homeostat' : `homeostat.dev/${word}`;
}

function suffixOf(event: EventInput, random: Random): string {
  return event.isLasting === true
    ? sha256Hex(eventKey(event)).slice(0, suffixLength)
    : random.text(suffixLength, '0123456789abcdef');
}

/** The object's name and a suffix. Characters that Event names do not allow (RBAC names have them) are replaced. */
function eventName(subject: string, suffix: string): string {
  const start = subject
    .toLowerCase()
    .replaceAll(/[^a-z0-9.-]/g, '-')
    .slice(0, objectNameBytes - suffix.length - 1)
    .replaceAll(/^[.-]+|[.-]+$/g, '');
  return start === '' ? suffix : `${start}.${suffix}`;
}
