import { recordOf } from '#runtime/definitions/record.ts';
import { originOfPublished } from '#runtime/publish/publication.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { PublishedDefinitions } from '../fakes/published-definitions.ts';

/** As it is written. */
type Selector = 'all' | { readonly matchLabels: Readonly<Record<string, string>> };

interface Spec {
  readonly children?: readonly {
    readonly template: { readonly data: { readonly text: string } };
  }[];
  readonly controller?: { readonly clusters?: { readonly selector: Selector } };
}

/** What must run of a definition, and why if nothing does. */
export interface Expected {
  /** In the ConfigMaps that it makes. Undefined: nothing runs. */
  readonly text: string | undefined;
  /** The members where it runs. Undefined: in the hub. */
  readonly selector: Selector | undefined;
  /** Reason of the condition `Accepted`. Undefined: there is no object, or it is being deleted. */
  readonly accepted: string | undefined;
}

export function textIn(spec: unknown): string | undefined {
  return (spec as Spec | undefined)?.children?.[0]?.template.data.text;
}

function selectorIn(spec: unknown): Selector | undefined {
  return (spec as Spec).controller?.clusters?.selector;
}

/** With a mistake, or empty: that of an object whose manifest was never valid. */
function isBroken(spec: object): boolean {
  return 'childern' in spec || !('for' in spec);
}

/** What must run, from the objects and the manifests of a hub alone. */
export function expectedOf(hub: PublishedDefinitions, name: string): Expected {
  const nothing = { text: undefined, selector: undefined, accepted: undefined };
  const object = hub.object(name);
  if (object === undefined || isBeingDeleted(object)) return nothing;
  const { origin, revisions } = recordOf(object);
  const isPublished = origin.source !== 'object';
  const spec = isPublished ? hub.manifests.get(origin.ref)?.spec : (object.spec as object);
  if (spec === undefined) return { ...nothing, accepted: 'Withdrawn' };
  const running = isBroken(spec) ? (revisions[0]?.spec ?? {}) : spec;
  return {
    text: textIn(running),
    selector: selectorIn(running),
    accepted: isBroken(spec) ? 'Rejected' : 'Accepted',
  };
}

/** Deleted by a user, and waiting for members. A published one is created again. */
function isBeingDeleted(object: KubeObject): boolean {
  return object.metadata.deletionTimestamp !== undefined && originOfPublished(object) === undefined;
}

/** Whether a hub runs a definition in a member that it reaches. */
export function runsIn(hub: PublishedDefinitions, name: string, member: string): boolean {
  const { text, selector } = expectedOf(hub, name);
  return text !== undefined && reaches(hub, member) && selects(hub, selector, member);
}

function selects(
  hub: PublishedDefinitions,
  selector: Selector | undefined,
  member: string,
): boolean {
  if (selector === undefined) return false;
  const labels = hub.member(member)?.metadata.labels ?? {};
  return (
    selector === 'all' ||
    Object.entries(selector.matchLabels).every(([key, value]) => labels[key] === value)
  );
}

/** Whether a hub has the `Cluster` of a member, and a connection. */
export function reaches(hub: PublishedDefinitions, member: string): boolean {
  return hub.member(member) !== undefined && hub.links.get(member)?.isUp === true;
}
