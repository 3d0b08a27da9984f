import type { JsonObject } from '../../util/json.ts';
import { goKind } from '../go-value.ts';
import { objectField, stringField } from '../json-fields.ts';
import { ApplyError } from './apply-error.ts';
import { checkValue, isOfType, type TypeProblem } from './check-value.ts';
import type { FieldType } from './field-type.ts';
import { FieldsV1Codec } from './fields-v1.ts';
import { fitSetToType } from './fit-set.ts';
import { allowedByLastApplied, withLastApplied } from './last-applied.ts';
import {
  isReset,
  type ManagedSet,
  type ManagerId,
  type Managers,
  managedFieldsOf,
  managerId,
  readManagers,
  withManagedFields,
  writeManagers,
} from './managed-fields.ts';
import { mergeOldUpdaters } from './manager-limit.ts';
import {
  type Applied,
  applyConfig,
  type OwnershipContext,
  ownersAfterUpdate,
} from './ownership.ts';
import { fieldElement } from './path-element.ts';
import { difference, isEmptySet, type PathSet, pathSetOf, union } from './path-set.ts';

export interface FieldManagerOptions {
  /** The version that requests are made in: `apps/v1`. */
  readonly apiVersion: string;
  readonly kind: string;
  /** The type of the kind in each version that is served. */
  readonly types: ReadonlyMap<string, FieldType>;
  /** Empty = the main endpoint. @default '' */
  readonly subresource?: string;
  /** Fields that writers of this endpoint never own, with all below them. */
  readonly resetFields?: PathSet;
  /** What an object is before anything is said of it: what is always written belongs to nobody. @default {} */
  readonly zero?: JsonObject;
  /** May objects be stored that do not fit their types? @default false */
  readonly isLoose?: boolean;
  /** Now, as RFC 3339 with seconds. */
  readonly now: () => string;
}

/** A write that is no apply. */
export interface UpdateRequest {
  /** Undefined = it is being created. */
  readonly live: JsonObject | undefined;
  readonly next: JsonObject;
  readonly manager: string;
}

export interface ApplyRequest {
  readonly live: JsonObject | undefined;
  readonly config: JsonObject;
  readonly manager: string;
  readonly force: boolean;
}

const existingFieldsText =
  'failed to create manager for existing fields: failed to convert new object';

/** The manager of fields that were there before anybody applied. */
const beforeFirstApply = 'before-first-apply';

/**
 * Keeps `metadata.managedFields` for one endpoint of a kind and merges applies. Pure: objects are
 * never changed, results share parts with them. Defaults are the caller's: filled in before an
 * update and after an apply.
 */
export class FieldManager {
  readonly #context: OwnershipContext;
  readonly #kind: string;
  readonly #zero: JsonObject;
  readonly #subresource: string;
  readonly #isLoose: boolean;
  readonly #now: () => string;
  readonly #codec = new FieldsV1Codec();
  readonly #fitted = new WeakMap<FieldType, WeakMap<PathSet, PathSet>>();

  constructor(options: FieldManagerOptions) {
    const { apiVersion, kind, types, subresource = '', resetFields, now } = options;
    this.#zero = { ...options.zero, apiVersion, kind };
    const type = types.get(apiVersion);
    if (type === undefined) throw new Error(`Expected a type for ${apiVersion} ${kind}`);
    const typeOf = (version: string) => types.get(version);
    const fit = (fitted: FieldType, set: PathSet) => this.#fit(fitted, set);
    this.#context = { apiVersion, type, typeOf, resetFields, fit };
    this.#kind = kind;
    this.#subresource = subresource;
    this.#isLoose = options.isLoose ?? false;
    this.#now = now;
  }

  /** The object with the ownership that a create, update or patch leads to. */
  update({ live, next, manager }: UpdateRequest): JsonObject {
    const managers = this.#managersOfUpdate(live, next);
    // Where nobody is tracked, tracking was switched off; only an apply starts it again.
    if (managers.size === 0 && live !== undefined) return withManagedFields(next, undefined);
    const owners = this.#updateOwnersIfTyped({ live: live ?? this.#zero, next, manager, managers });
    return owners === undefined
      ? withManagedFields(next, undefined)
      : this.#withOwners(next, owners);
  }

  /**
   * The live object with a configuration merged in.
   * @throws ApplyError `bad-request` for managedFields in the configuration, `untyped` when it does
   *   not fit the schema, `conflict` when others own what would change.
   */
  apply(request: ApplyRequest): JsonObject {
    const { config, manager } = request;
    const live = request.live ?? this.#zero;
    this.#assertAppliable(config);
    const managers = this.#managersOfApply(live);
    this.#assertTyped(live, 'failed to create typed live object');
    const applied = this.#applyOrMigrate({ ...request, live, managers });
    const object = applied.object ?? withManagedFields(live, undefined);
    const next = manager === 'kubectl' ? withLastApplied(object, config) : object;
    return this.#withOwners(next, applied.managers);
  }

  #withOwners(object: JsonObject, owners: Managers): JsonObject {
    for (const { apiVersion, set } of owners.values()) this.#noteFitting(apiVersion, set);
    const written = owners.size === 0 ? undefined : writeManagers(owners, this.#codec);
    return withManagedFields(object, written);
  }

  /** Sets are fitted once for each type: schemas change rarely. */
  #fit(type: FieldType, set: PathSet): PathSet {
    const fitted = this.#fitted.get(type) ?? new WeakMap<PathSet, PathSet>();
    this.#fitted.set(type, fitted);
    const known = fitted.get(set);
    if (known !== undefined) return known;
    const result = fitSetToType(type, set);
    fitted.set(set, result);
    return result;
  }

  /** What a write leads to reads under the types of today. */
  #noteFitting(apiVersion: string, set: PathSet): void {
    const type = this.#context.typeOf(apiVersion);
    if (type === undefined) return;
    const fitted = this.#fitted.get(type) ?? new WeakMap<PathSet, PathSet>();
    this.#fitted.set(type, fitted);
    fitted.set(set, set);
  }

  #managersOfUpdate(live: JsonObject | undefined, next: JsonObject): Managers {
    const ofLive = () => readManagers(managedFieldsOf(live), this.#codec) ?? new Map();
    if (this.#subresource !== '') return ofLive();
    const written = managedFieldsOf(next);
    if (isReset(written)) return new Map();
    const managers = readManagers(written, this.#codec);
    return managers === undefined || managers.size === 0 ? ofLive() : managers;
  }

  #managersOfApply(live: JsonObject): Managers {
    const managers = readManagers(managedFieldsOf(live), this.#codec);
    if (managers === undefined) throw new ApplyError('untyped', 'failed to decode managed fields');
    if (managers.size > 0) return managers;
    this.#assertTyped(live, existingFieldsText, ' to smd typed');
    const update = { live: this.#zero, next: live, manager: beforeFirstApply, managers };
    return this.#updateOwners(update);
  }

  /**
   * Undefined when items cannot be told apart, of which validation speaks, or when there is what does not fit the type,
   * as a value may that was stored before the type changed.
   */
  #updateOwnersIfTyped(update: OwnerUpdate): Managers | undefined {
    const { type } = this.#context;
    const parts = [update.live, update.next].map((part) => withManagedFields(part, undefined));
    if (this.#isLoose && !parts.every((part) => isOfType(type, part))) return undefined;
    try {
      return this.#updateOwners(update);
    } catch (error) {
      if (error instanceof ApplyError && error.code === 'invalid-item') return undefined;
      throw error;
    }
  }

  #updateOwners(update: OwnerUpdate): Managers {
    const { apiVersion } = this.#context;
    // The writer takes part under a name of its own: what it owned before must not hide what it changes now.
    const self = 'current-operation';
    const owners = new Map(
      ownersAfterUpdate(this.#context, {
        live: withManagedFields(update.live, undefined),
        next: withManagedFields(update.next, undefined),
        managers: update.managers,
        self,
      }),
    );
    stripIdentity(owners, self);
    const own = owners.get(self);
    if (own !== undefined) {
      const id = this.#managerId({ manager: update.manager, operation: 'Update', apiVersion });
      const before = owners.get(id);
      owners.delete(self);
      const set = before === undefined ? own.set : union(own.set, before.set);
      // Of who scales the server remembers no time.
      const time = this.#subresource === 'scale' ? undefined : this.#now();
      owners.set(id, { ...own, set, time });
    }
    return mergeOldUpdaters(owners);
  }

  #applyOrMigrate(request: TrackedApply): Applied {
    try {
      return this.#apply(request);
    } catch (error) {
      if (!(error instanceof ApplyError && error.code === 'conflict')) throw error;
      if (request.manager !== 'kubectl') throw error;
      return this.#migrate(request, error);
    }
  }

  /** Fields that client-side apply wrote may be taken over by kubectl's first server-side apply. */
  #migrate(request: TrackedApply, error: ApplyError): Applied {
    const { type, apiVersion } = this.#context;
    const live = withManagedFields(request.live, undefined);
    const allowed = allowedByLastApplied(type, apiVersion, live);
    if (allowed === undefined) throw error;
    return this.#apply({ ...request, mayTake: allowed });
  }

  #apply({ live, manager, ...request }: TrackedApply): Applied {
    const self = this.#managerId({ manager, operation: 'Apply' });
    const applied = applyConfig(this.#context, {
      ...request,
      live: withManagedFields(live, undefined),
      self,
    });
    const owners = new Map(applied.managers);
    stripIdentity(owners, self);
    const own = owners.get(self);
    if (applied.object !== undefined && own !== undefined)
      owners.set(self, { ...own, time: this.#now() });
    return { object: applied.object, managers: owners };
  }

  #managerId(name: {
    readonly manager: string;
    readonly operation: 'Apply' | 'Update';
    readonly apiVersion?: string;
  }): ManagerId {
    return managerId({ ...name, subresource: this.#subresource });
  }

  #assertAppliable(config: JsonObject): void {
    const managedFields = managedFieldsOf(config);
    if (managedFields !== undefined && managedFields !== null)
      throw new ApplyError('bad-request', 'metadata.managedFields must be nil');
    const problems = checkValue(this.#context.type, config);
    if (problems.length > 0)
      this.#refuseUntyped(config, problems, 'failed to create typed patch object');
  }

  /** Only what was stored before its type changed does not fit it. */
  #assertTyped(live: JsonObject, text: string, tail = ''): void {
    const { type } = this.#context;
    const bare = withManagedFields(live, undefined);
    if (!this.#isLoose || isOfType(type, bare)) return;
    this.#refuseUntyped(bare, checkValue(type, bare), text, tail);
  }

  #refuseUntyped(
    object: JsonObject,
    problems: readonly TypeProblem[],
    text: string,
    tail = '',
  ): never {
    const metadata = objectField(object, 'metadata') ?? {};
    const name = `${stringField(metadata, 'namespace') ?? ''}/${stringField(metadata, 'name') ?? ''}`;
    const what = `${name}; ${goKind(this.#context.apiVersion, this.#kind)}`;
    throw new ApplyError('untyped', `${text} (${what})${tail}: ${problemText(problems)}`);
  }
}

interface OwnerUpdate {
  readonly live: JsonObject;
  readonly next: JsonObject;
  readonly manager: string;
  readonly managers: Managers;
}

interface TrackedApply extends ApplyRequest {
  readonly live: JsonObject;
  readonly managers: Managers;
  readonly mayTake?: PathSet;
}

function problemText(problems: readonly TypeProblem[]): string {
  const texts = problems.map(({ path, message }) =>
    path === '' ? message : `${path}: ${message}`,
  );
  return texts.length === 1
    ? (texts[0] ?? '')
    : `errors:\n${texts.map((text) => `  ${text}`).join('\n')}`;
}

/** Nobody owns what an object is: its kind, its name, and what the server writes of its own. */
const identity: PathSet = pathSetOf([
  [fieldElement('apiVersion')],
  [fieldElement('kind')],
  [fieldElement('metadata')],
  ...[
    'name',
    'namespace',
    'creationTimestamp',
    'selfLink',
    'uid',
    'clusterName',
    'generation',
    'managedFields',
    'resourceVersion',
  ].map((name) => [fieldElement('metadata'), fieldElement(name)]),
]);

function stripIdentity(owners: Map<ManagerId, ManagedSet>, id: ManagerId): void {
  const managed = owners.get(id);
  if (managed === undefined) return;
  const set = difference(managed.set, identity);
  if (isEmptySet(set)) owners.delete(id);
  else owners.set(id, { ...managed, set });
}
