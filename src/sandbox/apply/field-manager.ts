import type { JsonObject } from '#util/json.ts';
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
  mergeOldUpdaters,
  readManagers,
  withManagedFields,
  writeManagers,
} from './managed-fields.ts';
import {
  type ApplyResult,
  applyConfig,
  type OwnershipContext,
  ownersAfterUpdate,
} from './ownership.ts';
import { fieldElement } from './path-element.ts';
import { difference, isEmptySet, type PathSet, pathSetOf, union } from './path-set.ts';

interface FieldManagerOptions {
  /** The version of the requests: `apps/v1`. */
  readonly apiVersion: string;
  readonly kind: string;
  /** The type of the kind in each version. */
  readonly types: ReadonlyMap<string, FieldType>;
  /** Returns why fields of a version that the kind does not have are an error. @default undefined: they are dropped */
  readonly unknownVersionError?: (apiVersion: string) => string;
  /**
   * An object in another version. @default the same object: versions differ by name only
   * @throws ApplyError `unconvertible`
   */
  readonly convert?: (object: JsonObject, apiVersion: string) => JsonObject;
  /** Empty = the main endpoint. @default '' */
  readonly subresource?: string;
  /** Fields that managers of this endpoint never own, including everything below them. */
  readonly resetFields?: PathSet;
  /** The fields of an empty object. They are always written, so no manager owns them. @default {} */
  readonly emptyObject?: JsonObject;
  /** The object as it is written: without the fields that are omitted. @default the same object */
  readonly encode?: (object: JsonObject) => JsonObject;
  /** Allows stored objects that do not fit their types. @default false */
  readonly allowsUntyped?: boolean;
  /** The current time, as RFC 3339 with seconds. */
  readonly now: () => string;
}

/** A write that is not an apply. */
interface UpdateRequest {
  /** Undefined = the object is being created. */
  readonly live: JsonObject | undefined;
  readonly next: JsonObject;
  readonly manager: string;
}

interface ApplyRequest {
  readonly live: JsonObject | undefined;
  readonly config: JsonObject;
  readonly manager: string;
  readonly force: boolean;
}

const existingFieldsText =
  'failed to create manager for existing fields: failed to convert new object';

/** Errors by which an update leaves an object without managers. */
const unownedCodes: ReadonlySet<string> = new Set([
  'invalid-item',
  'unknown-version',
  'unconvertible',
]);

/** The manager of fields that were set before the first apply. */
const beforeFirstApply = 'before-first-apply';

/**
 * Maintains `metadata.managedFields` for one endpoint of a kind and merges applies. Pure: objects are never changed, results
 * share parts with them. The caller fills in defaults: before an update and after an apply.
 */
export class FieldManager {
  readonly #context: OwnershipContext;
  readonly #kind: string;
  readonly #emptyObject: JsonObject;
  readonly #subresource: string;
  readonly #allowsUntyped: boolean;
  readonly #now: () => string;
  readonly #encode: (object: JsonObject) => JsonObject;
  readonly #codec = new FieldsV1Codec();
  readonly #fitted = new WeakMap<FieldType, WeakMap<PathSet, PathSet>>();

  constructor(options: FieldManagerOptions) {
    const { apiVersion, kind, types, subresource = '', resetFields, now } = options;
    const { unknownVersionError } = options;
    this.#emptyObject = { ...options.emptyObject, apiVersion, kind };
    const type = types.get(apiVersion);
    if (type === undefined) throw new Error(`Expected a type for ${apiVersion} ${kind}`);
    const typeOf = (version: string) => {
      const found = types.get(version);
      if (found !== undefined || unknownVersionError === undefined) return found;
      throw new ApplyError('unknown-version', unknownVersionError(version));
    };
    const fit = (fitted: FieldType, set: PathSet) => this.#fit(fitted, set);
    const convert = byHub(apiVersion, options.convert);
    this.#context = { apiVersion, type, typeOf, convert, resetFields, fit };
    this.#kind = kind;
    this.#subresource = subresource;
    this.#allowsUntyped = options.allowsUntyped ?? false;
    this.#now = now;
    this.#encode = options.encode ?? ((object) => object);
  }

  /** Returns the object with the managedFields that result from a create, update or patch. */
  update({ live, next, manager }: UpdateRequest): JsonObject {
    const managers = this.#managersOfUpdate(live, next);
    // An object without managers has tracking switched off; only an apply starts it again.
    if (managers.size === 0 && live !== undefined) return withManagedFields(next, undefined);
    const owners = this.#updateOwnersIfTyped({
      live: live ?? this.#emptyObject,
      next: this.#encode(next),
      manager,
      managers,
    });
    return owners === undefined
      ? withManagedFields(next, undefined)
      : this.#withOwners(next, owners);
  }

  /**
   * Merges a configuration into the live object.
   * @throws ApplyError `bad-request` for managedFields in the configuration, `untyped` when it does
   * not fit the schema, `conflict` when other managers own fields that would change, `unknown-version` when managers own
   * fields of a version that the server cannot convert to, `unconvertible` when the conversion to such a version fails.
   */
  apply(request: ApplyRequest): JsonObject {
    const { config, manager } = request;
    const live = request.live ?? this.#emptyObject;
    this.#assertAppliable(config);
    const managers = this.#managersOfApply(live);
    this.#assertTyped(live, 'failed to create typed live object');
    const applied = this.#applyOrMigrate({ ...request, live, managers });
    const object = applied.object ?? withManagedFields(live, undefined);
    const next = manager === 'kubectl' ? withLastApplied(object, config) : object;
    return this.#withOwners(next, applied.managers);
  }

  #withOwners(object: JsonObject, owners: Managers): JsonObject {
    for (const { apiVersion, set } of owners.values()) this.#markFitted(apiVersion, set);
    const written = owners.size === 0 ? undefined : writeManagers(owners, this.#codec);
    return withManagedFields(object, written);
  }

  /** Caches fitted sets per type: schemas change rarely. */
  #fit(type: FieldType, set: PathSet): PathSet {
    const fitted = this.#fitted.get(type) ?? new WeakMap<PathSet, PathSet>();
    this.#fitted.set(type, fitted);
    const known = fitted.get(set);
    if (known !== undefined) return known;
    const result = fitSetToType(type, set);
    fitted.set(set, result);
    return result;
  }

  /** Marks a set as fitted: a write computes it with the current types. */
  #markFitted(apiVersion: string, set: PathSet): void {
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
    const update = { live: this.#emptyObject, next: live, manager: beforeFirstApply, managers };
    return this.#updateOwners(update);
  }

  /**
   * Undefined when the object has duplicate items, which validation reports, when a stored value no longer fits its type, or when managers
   * own fields of a version that the object cannot be converted to: as on the server, all managers are dropped.
   */
  #updateOwnersIfTyped(update: OwnerUpdate): Managers | undefined {
    const { type } = this.#context;
    const parts = [update.live, update.next].map((part) => withManagedFields(part, undefined));
    if (this.#allowsUntyped && !parts.every((part) => isOfType(type, part))) return undefined;
    try {
      return this.#updateOwners(update);
    } catch (error) {
      if (error instanceof ApplyError && unownedCodes.has(error.code)) return undefined;
      throw error;
    }
  }

  #updateOwners(update: OwnerUpdate): Managers {
    const { apiVersion } = this.#context;
    // The writer gets a temporary name: its previous fields must not hide what it changes now.
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
      // The server records no time for the scale subresource.
      const time = this.#subresource === 'scale' ? undefined : this.#now();
      owners.set(id, { ...own, set, time });
    }
    return mergeOldUpdaters(owners);
  }

  #applyOrMigrate(request: TrackedApply): ApplyResult {
    try {
      return this.#apply(request);
    } catch (error) {
      if (!(error instanceof ApplyError && error.code === 'conflict')) throw error;
      if (request.manager !== 'kubectl') throw error;
      return this.#migrate(request, error);
    }
  }

  /** Lets the first server-side apply of kubectl take over fields that client-side apply wrote. */
  #migrate(request: TrackedApply, error: ApplyError): ApplyResult {
    const { type, apiVersion } = this.#context;
    const live = withManagedFields(request.live, undefined);
    const allowed = allowedByLastApplied(type, apiVersion, live);
    if (allowed === undefined) throw error;
    return this.#apply({ ...request, transferable: allowed });
  }

  #apply({ live, manager, ...request }: TrackedApply): ApplyResult {
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
      this.#untypedError(config, problems, 'failed to create typed patch object');
  }

  /** Only an object that was stored before its type changed can fail here. */
  #assertTyped(live: JsonObject, text: string, tail = ''): void {
    const { type } = this.#context;
    const bare = withManagedFields(live, undefined);
    if (!this.#allowsUntyped || isOfType(type, bare)) return;
    this.#untypedError(bare, checkValue(type, bare), text, tail);
  }

  #untypedError(
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

/** The server converts by way of the version of the request. */
function byHub(hub: string, convert: FieldManagerOptions['convert']) {
  if (convert === undefined) return (object: JsonObject) => object;
  const to = (object: JsonObject, version: string) =>
    object.apiVersion === version ? object : convert(object, version);
  return (object: JsonObject, version: string) => to(to(object, hub), version);
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
  readonly transferable?: PathSet;
}

function problemText(problems: readonly TypeProblem[]): string {
  const texts = problems.map(({ path, message }) =>
    path === '' ? message : `${path}: ${message}`,
  );
  return texts.length === 1
    ? (texts[0] ?? '')
    : `errors:\n${texts.map((text) => `  ${text}`).join('\n')}`;
}

/** Fields that no manager owns: kind, name, and the metadata that the server sets. */
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
