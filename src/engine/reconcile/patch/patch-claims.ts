import type { PatchPlan } from '#compile';
import { parseJson } from '#util/exact-json.ts';
import { isNamespaceName } from '#util/glob.ts';
import { isJsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { objectNamePattern } from '#util/object-name.ts';
import { patchedAnnotationOf } from '#util/stored-names.ts';
import { type Problem, problemOfValue } from '../failure.ts';
import { type ObjectIdentity, parseIdentity } from '../identity.ts';
import { hasFinalizer } from '../ownership-claims.ts';
import type { Pass } from '../pass/pass.ts';
import { editAnnotation } from '../resource/write-metadata.ts';

/** Maximum number of claims. Users of the resource can write its annotations, and each claim costs a read. */
const maxClaims = 250;

/** As many are read: while a patch with a new id takes over, an object has two claims. */
const maxReadClaims = 2 * maxClaims;

/** Maximum length of their annotation. A resource may have 256 KiB of annotations. */
const maxLength = 65_536;

/** The part of a patch that a claim is about. */
type ClaimingPatch = Pick<PatchPlan, 'id' | 'setsStatus'>;

/** An object in which a patch of the resource may own fields. */
export interface PatchClaim extends ClaimingPatch {
  readonly object: ObjectIdentity;
  /** The text of `object`. */
  readonly identity: string;
}

/** A claim that is to be recorded. */
export interface NewClaim {
  readonly patch: ClaimingPatch;
  readonly identity: string;
  readonly digest: string;
}

/** By the text of the claim, a digest of the paths that the patch sets. */
type Digests = ReadonlyMap<string, string>;

/**
 * The claims of the patches of one resource, as recorded in an annotation. A claim is recorded before the first apply and dropped after the
 * withdrawal, so every field that a patch owns has one. Its digest is that of the paths of every apply since it was recorded; empty while
 * they differ. A user who can edit the resource can forge a claim: a withdrawal removes only what the field manager of this patch of this
 * resource owns.
 */
export class PatchClaims {
  readonly #pass: Pass;
  #recorded: Digests;
  /** Not written yet; undefined: to be dropped. */
  readonly #changes = new Map<string, string | undefined>();
  readonly #wanted = new Set<string>();
  readonly #keptPatches = new Set<string>();
  /** By patch. */
  readonly #keptNames = new Map<string, Set<string>>();

  constructor(pass: Pass) {
    this.#pass = pass;
    const { annotations } = (pass.effects.updatedResource ?? pass.resource).metadata;
    this.#recorded = parseDigests(annotations?.[patchedAnnotationOf(pass.context.plan.name)]);
  }

  /** The digest of the paths that the patch sets in the object. Undefined: there is no claim. */
  digestOf(patch: ClaimingPatch, identity: string): string | undefined {
    return this.#recorded.get(textOf(patch, identity));
  }

  /** The patch applies to this object. */
  want(patch: ClaimingPatch, identity: string): void {
    this.#wanted.add(textOf(patch, identity));
  }

  /** The objects of the patch are not known now. */
  keepAllOf({ id }: ClaimingPatch): void {
    this.#keptPatches.add(id);
  }

  /** Whether the patch applies to objects of this name is not known now. */
  keepNamed({ id }: ClaimingPatch, name: string): void {
    const names = this.#keptNames.get(id) ?? new Set();
    this.#keptNames.set(id, names.add(name));
  }

  /** Claims of patches that apply to other objects, or no longer. */
  unwanted(): readonly PatchClaim[] {
    if (this.excess !== undefined) return [];
    return [...this.#recorded.keys()].flatMap((text) => {
      const claim = this.#wanted.has(text) ? undefined : parseClaim(text);
      if (claim === undefined || this.#isKept(claim) || this.#isAwaited(claim)) return [];
      return [claim];
    });
  }

  #isKept({ id, object }: PatchClaim): boolean {
    return this.#keptPatches.has(id) || this.#keptNames.get(id)?.has(object.name) === true;
  }

  /** Is another patch about to take the fields over? Its id is new, and it has no claim yet. */
  #isAwaited({ id, identity }: PatchClaim): boolean {
    if (!this.#isGone(id)) return false;
    return [...this.#wanted].some((text) => !this.#recorded.has(text) && isAbout(text, identity));
  }

  /** Does the definition no longer have this patch? */
  #isGone(id: string): boolean {
    const { reporting } = this.#pass.context.plan;
    return reporting?.patches.some((patch) => patch.id === id) !== true;
  }

  /** What these claims take over: it is dropped once they have been applied. */
  #takenOver(claims: readonly NewClaim[]): Digests {
    const identities = new Set(claims.map(({ identity }) => identity));
    const isTaken = (text: string) => {
      const claim = parseClaim(text);
      return claim !== undefined && identities.has(claim.identity) && this.#isGone(claim.id);
    };
    return new Map([...this.#recorded].filter(([text]) => isTaken(text)));
  }

  /** The claims on an object. */
  on(identity: string): readonly PatchClaim[] {
    const claims = [...this.#recorded.keys()].flatMap((text) => parseClaim(text) ?? []);
    return claims.filter((claim) => claim.identity === identity);
  }

  /** Why these claims cannot be recorded beside those that are. Undefined: they can. */
  limitOf(claims: readonly NewClaim[]): Problem | undefined {
    const all = withChanges(this.#recorded, this.#changesOf(claims));
    const hasNew = all.size > this.#recorded.size;
    const taken = this.#takenOver(claims);
    const left = new Map([...all].filter(([text]) => !taken.has(text)));
    if (hasNew && left.size > maxClaims) return this.#tooMany(left.size);
    // An earlier takeover has not ended.
    if (hasNew && all.size > maxReadClaims) return this.#tooMany(all.size);
    const { length } = formatDigests(left) ?? '';
    return hasNew && length > maxLength ? this.#tooLong(length) : undefined;
  }

  /**
   * As {@link record}, for several objects in one request.
   * @returns the error, if any: then none of them may be patched.
   */
  async recordAll(claims: readonly NewClaim[]): Promise<Problem | undefined> {
    const changes = this.#changesOf(claims);
    return changes.size === 0 ? this.ensureFinalizer() : this.#write(changes, true);
  }

  /** What recording changes. From then on, applies with other paths may have been sent. */
  #changesOf(claims: readonly NewClaim[]): ReadonlyMap<string, string> {
    const changes = new Map<string, string>();
    for (const { patch, identity, digest } of claims) {
      const text = textOf(patch, identity);
      const recorded = this.#recorded.get(text);
      if (recorded === digest || recorded === '') continue;
      // The cache does not show whether a status was applied.
      changes.set(text, recorded === undefined && !patch.setsStatus ? digest : '');
    }
    return changes;
  }

  /**
   * Records that the patch is about to set fields with this digest of paths in an object.
   * @returns the error, if any: then it may not be applied.
   */
  async record(
    patch: ClaimingPatch,
    identity: string,
    digest: string,
  ): Promise<Problem | undefined> {
    const claims = [{ patch, identity, digest }];
    return this.limitOf(claims) ?? this.recordAll(claims);
  }

  /** The apply with this digest of paths succeeded. Written by {@link save}. */
  confirm(patch: ClaimingPatch, identity: string, digest: string): void {
    const text = textOf(patch, identity);
    if (this.#recorded.get(text) !== digest) this.#changes.set(text, digest);
  }

  /** The patch owns nothing in the object any more. Written by {@link save}. */
  drop(claim: PatchClaim): void {
    this.#changes.set(textOf(claim, claim.identity), undefined);
  }

  /** Writes what has changed. Returns the error, if any. */
  async save(): Promise<Problem | undefined> {
    if (this.#changes.size === 0) return undefined;
    const problem = await this.#write(this.#changes, false);
    if (problem === undefined) this.#changes.clear();
    return problem;
  }

  /** Sets a finalizer that was removed, or that an edit of the definition made necessary. Returns the error, if any. */
  async ensureFinalizer(): Promise<Problem | undefined> {
    const { context, effects, resource } = this.#pass;
    const { plan } = context;
    const isSet =
      effects.hasFinalizer === true || hasFinalizer(effects.updatedResource ?? resource, plan.name);
    if (this.isEmpty || !plan.needsFinalizer || isSet) return undefined;
    return this.#write(new Map(), true);
  }

  /** Why the claims are not read: there are more than we record. Undefined: they are. */
  get excess(): Problem | undefined {
    const { size } = this.#recorded;
    if (size <= maxReadClaims) return undefined;
    return problemOfValue(
      `metadata.annotations: Expected at most ${maxReadClaims} entries in "${this.#name}", found ${size}; patches cannot be withdrawn. Remove the entries of objects that do not exist`,
    );
  }

  get #name(): string {
    return patchedAnnotationOf(this.#pass.context.plan.name);
  }

  #tooMany(count: number): Problem {
    return limitReached(
      `Expected at most ${maxClaims} objects with patches that can be withdrawn, found ${count}; the annotation "${this.#name}" records them`,
    );
  }

  #tooLong(length: number): Problem {
    return limitReached(
      `Expected at most ${maxLength} characters in the annotation "${this.#name}", which records the patched objects, found ${length}`,
    );
  }

  get isEmpty(): boolean {
    return this.#recorded.size === 0;
  }

  async #write(
    changes: ReadonlyMap<string, string | undefined>,
    isClaim: boolean,
  ): Promise<Problem | undefined> {
    const { plan } = this.#pass.context;
    let written: Digests = new Map();
    const problem = await editAnnotation(this.#pass, {
      name: patchedAnnotationOf(plan.name),
      change(stored) {
        written = withChanges(parseDigests(stored), changes);
        return formatDigests(written);
      },
      setsFinalizer: isClaim && plan.needsFinalizer,
    });
    if (problem === undefined) this.#recorded = written;
    return problem;
  }
}

/** Does the resource have claims? */
export function hasClaims({ metadata }: KubeObject, definition: string): boolean {
  return metadata.annotations?.[patchedAnnotationOf(definition)] !== undefined;
}

function limitReached(message: string): Problem {
  return { reason: 'LimitReached', message, code: 'limit-reached', kind: 'permanent' };
}

const statusSuffix = '/status';

function textOf({ id, setsStatus }: ClaimingPatch, identity: string): string {
  return `${id}${setsStatus ? statusSuffix : ''} ${identity}`;
}

function isAbout(text: string, identity: string): boolean {
  return text.slice(text.indexOf(' ') + 1) === identity;
}

function parseClaim(text: string): PatchClaim | undefined {
  const space = text.indexOf(' ');
  const identity = text.slice(space + 1);
  const object = parseIdentity(identity);
  // Patches are in the cluster of the resource.
  if (space < 1 || object === undefined || object.kind.cluster !== undefined) return undefined;
  // People edit annotations, and the names become parts of paths.
  const { namespace, name } = object;
  if (!objectNamePattern.test(name)) return undefined;
  if (namespace !== undefined && !isNamespaceName(namespace)) return undefined;
  const patch = text.slice(0, space);
  const setsStatus = patch.endsWith(statusSuffix);
  const id = setsStatus ? patch.slice(0, -statusSuffix.length) : patch;
  return { id, setsStatus, object, identity };
}

function parseDigests(text: string | undefined): Digests {
  if (text === undefined) return new Map();
  try {
    const stored: unknown = parseJson(text);
    if (!isJsonObject(stored)) return new Map();
    const valid = Object.entries(stored).flatMap(([claim, digest]): [string, string][] =>
      typeof digest === 'string' && parseClaim(claim) !== undefined ? [[claim, digest]] : [],
    );
    return new Map(valid);
  } catch {
    // Edited by another manager: nothing is claimed.
    return new Map();
  }
}

function withChanges(recorded: Digests, changes: ReadonlyMap<string, string | undefined>): Digests {
  const next = new Map(recorded);
  for (const [text, digest] of changes) {
    if (digest === undefined) next.delete(text);
    else next.set(text, digest);
  }
  return next;
}

function formatDigests(digests: Digests): string | undefined {
  if (digests.size === 0) return undefined;
  return JSON.stringify(Object.fromEntries([...digests].toSorted(([a], [b]) => (a < b ? -1 : 1))));
}
