import { canonicalJson } from '#util/canonical-json.ts';
import { deepEqual } from '#util/deep-equal.ts';
import { type KubeObject, keyOf } from '#util/kube-object.ts';
import { mayExist } from '../core/decide-deletion.ts';
import type { ObjectPlan } from '../core/plan.ts';
import { type FarRequest, type Identity, type ObjectRecord, withId } from '../core/record.ts';
import { fieldPathOf, valueAtPath } from '../spec/field-path.ts';

/** What an `HttpObject` claims in an API. */
export interface Claim {
  readonly key: string;
  readonly uid: string;
  readonly createdAt: string;
  readonly places: readonly Place[];
}

/** An object of an API. */
export interface Place {
  /** Equal for the same object. */
  readonly text: string;
  /** Whether it is the object of the record, and not only that of the spec. */
  readonly isRecorded: boolean;
  /** The HttpObject has created or adopted it, or may have. */
  readonly isOwned: boolean;
}

/**
 * Which `HttpObject` of a namespace has which object of an API: two of them never manage the same one. Other namespaces do not count: they
 * may have other credentials, and could hold the objects of a namespace, whose requests they may not even send.
 */
export class FarIndex {
  readonly #claims = new Map<string, Claim>();
  readonly #byPlace = new Map<string, Set<string>>();

  set(claim: Claim): void {
    this.delete(claim.key);
    this.#claims.set(claim.key, claim);
    for (const { text } of claim.places) {
      const keys = this.#byPlace.get(text) ?? new Set();
      keys.add(claim.key);
      this.#byPlace.set(text, keys);
    }
  }

  delete(key: string): void {
    for (const { text } of this.#claims.get(key)?.places ?? []) {
      const keys = this.#byPlace.get(text);
      keys?.delete(key);
      if (keys?.size === 0) this.#byPlace.delete(text);
    }
    this.#claims.delete(key);
  }

  /** The other HttpObject that owns a place. Undefined: none does. */
  ownerOf(text: string, except: string): string | undefined {
    for (const key of this.#byPlace.get(text) ?? []) {
      const places = this.#claims.get(key)?.places ?? [];
      const isOwner = places.some((place) => place.text === text && place.isOwned);
      if (key !== except && isOwner) return key;
    }
    return undefined;
  }

  /** The HttpObject that has one of the places of a claim: the one that owns it, else the older one. Undefined: this one. */
  ownerBefore(claim: Claim, which: 'recorded' | 'planned'): string | undefined {
    for (const place of claim.places) {
      if (which === 'recorded' && !place.isRecorded) continue;
      for (const key of this.#byPlace.get(place.text) ?? []) {
        const other = this.#claims.get(key);
        if (other !== undefined && key !== claim.key && isBefore(other, claim, place)) return key;
      }
    }
    return undefined;
  }
}

function isBefore(a: Claim, b: Claim, { text, isOwned }: Place): boolean {
  const aOwns = a.places.some((place) => place.text === text && place.isOwned);
  if (aOwns !== isOwned) return aOwns;
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt;
  return a.uid < b.uid;
}

interface Claiming {
  /** Undefined: the spec is not valid. */
  readonly plan: ObjectPlan | undefined;
  readonly record: ObjectRecord | undefined;
  /** Of the endpoint today. */
  readonly location: string | undefined;
}

/** The claim of an object. Pure. */
export function claimOf({ metadata }: KubeObject, claiming: Claiming): Claim {
  const { namespace = '' } = metadata;
  const recorded = recordedPlaces(claiming.record);
  const known = new Set(recorded.map(({ text }) => text));
  const planned = plannedPlaces(claiming).filter(({ text }) => !known.has(text));
  const places = [...recorded, ...planned].map((place) => ({
    ...place,
    text: `${namespace} ${place.text}`,
  }));
  return {
    key: keyOf(metadata.namespace, metadata.name),
    uid: metadata.uid ?? '',
    createdAt: metadata.creationTimestamp ?? '',
    places,
  };
}

function recordedPlaces(record: ObjectRecord | undefined): readonly Place[] {
  const { identity } = record ?? {};
  if (record === undefined || identity === undefined) return [];
  const request = withId(identity.observe, identity.id);
  if (request === undefined) return [];
  const text = placeOf(identity.location, request);
  return [{ text, isRecorded: true, isOwned: mayExist(record) }];
}

/** Objects that only observe claim nothing. */
function plannedPlaces({ plan, record, location }: Claiming): readonly Place[] {
  if (plan === undefined || plan.isReadOnly || location === undefined) return [];
  const { find, observe } = plan.requests;
  if (!plan.needsId)
    return [{ text: placeOf(location, observe), isRecorded: false, isOwned: false }];
  if (find === undefined) return [];
  const { match = [] } = plan.spec.find ?? {};
  const values = match.map((path) => valueAtPath(plan.spec.desired, fieldPathOf(path) ?? []));
  const isSame = record?.identity?.params === plan.params && deepEqual(record.identity.find, find);
  const text = `${placeOf(location, find)} ${canonicalJson(values)}`;
  return [{ text, isRecorded: false, isOwned: isSame && mayExist(record) }];
}

/** The place of an object with an id. Undefined: it can be no part of a path. Pure. */
export function placeWithId(
  { metadata: { namespace = '' } }: KubeObject,
  identity: Identity,
  id: string,
): string | undefined {
  const request = withId(identity.observe, id);
  return request && `${namespace} ${placeOf(identity.location, request)}`;
}

function placeOf(location: string, { path, query = {} }: FarRequest): string {
  return `${location}${path} ${canonicalJson(query)}`;
}
