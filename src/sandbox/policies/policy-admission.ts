import type { JsonObject } from '#util/json.ts';
import { createPolicyCompiler, type PolicyCompiler } from '../cel/policy-cel.ts';
import { objectField, stringField } from '../json-fields.ts';
import type { KindRegistry } from '../kinds/kind-registry.ts';
import type { ServedKind } from '../kinds/served-kind.ts';
import {
  type AdmissionRequest,
  inStorageVersion,
  inVersion,
  type WriteAdmission,
} from '../rest/rest-context.ts';
import type { ObjectStore } from '../store/object-store.ts';
import { storeKey } from '../store/stored-object.ts';
import { type CompiledPolicy, compilePolicy } from './compile-policy.ts';
import { matchRequest } from './match-request.ts';
import { type Invocation, mutateBy } from './mutate.ts';
import { isNamespace, namespaceOf, requestValues } from './request-values.ts';
import { validateBy } from './validate.ts';

interface PolicyAdmissionOptions {
  readonly store: ObjectStore;
  readonly kinds: KindRegistry;
}

const group = 'admissionregistration.k8s.io';
const validating = `${group}/validatingadmissionpolicies`;
const validatingBindings = `${group}/validatingadmissionpolicybindings`;
const mutating = `${group}/mutatingadmissionpolicies`;
const mutatingBindings = `${group}/mutatingadmissionpolicybindings`;

/** Applies the stored admission policies to writes. */
export class PolicyAdmission implements WriteAdmission {
  readonly #store: ObjectStore;
  readonly #kinds: KindRegistry;
  readonly #compiler: PolicyCompiler = createPolicyCompiler();
  /** By the stored policy, which never changes. */
  readonly #compiled = new WeakMap<JsonObject, { readonly policy: CompiledPolicy | undefined }>();

  constructor({ store, kinds }: PolicyAdmissionOptions) {
    this.#store = store;
    this.#kinds = kinds;
  }

  mutate(request: AdmissionRequest): JsonObject | undefined {
    if (isExempt(request)) return request.object;
    return mutateBy(request, {
      invocations: (current) => this.#invocations(current, mutating, mutatingBindings),
      values: (current, invocation) => this.#values(current, invocation),
      toKind: (object, from, to) => convert(object, from, to),
    });
  }

  validate(request: AdmissionRequest): readonly string[] {
    if (isExempt(request)) return [];
    const invocations = this.#invocations(request, validating, validatingBindings);
    return validateBy(request, invocations, (invocation) => this.#values(request, invocation));
  }

  /** The policies that select a request, each with one of its bindings. */
  #invocations(
    request: AdmissionRequest,
    policies: string,
    bindings: string,
  ): readonly Invocation[] {
    const bound = this.#store.list(bindings);
    if (bound.length === 0) return [];
    const context = { kinds: this.#kinds, namespaceLabels: this.#namespaceLabels(request) };
    return this.#store.list(policies).flatMap(({ object, name }): readonly Invocation[] => {
      const own = bound.filter((each) => specOf(each.object).policyName === name);
      const policy = own.length === 0 ? undefined : this.#compile(object);
      const kind = policy && matchRequest(policy.constraints, request, context);
      if (policy === undefined || kind === undefined) return [];
      return own.flatMap((each): readonly Invocation[] => {
        const resources = objectField(specOf(each.object), 'matchResources');
        const isBound =
          resources === undefined || matchRequest(resources, request, context) !== undefined;
        return isBound
          ? [{ policy, kind, binding: each.name, bindingSpec: specOf(each.object) }]
          : [];
      });
    });
  }

  #compile(object: JsonObject): CompiledPolicy | undefined {
    const known = this.#compiled.get(object);
    if (known !== undefined) return known.policy;
    const policy = compilePolicy(object, this.#compiler);
    this.#compiled.set(object, { policy });
    return policy;
  }

  #values(request: AdmissionRequest, { policy, kind }: Invocation) {
    const { target, object, oldObject } = request;
    const seen = (each: JsonObject | undefined) =>
      each && convert(normalised(each, request), target.kind, kind);
    const namespace = isNamespace(target.kind) ? undefined : this.#namespace(request);
    return requestValues({
      request,
      kind,
      object: seen(object),
      oldObject: seen(oldObject),
      namespace,
      variables: policy.variables,
    });
  }

  #namespace(request: AdmissionRequest): JsonObject | undefined {
    const name = namespaceOf(request);
    return name === '' ? undefined : this.#store.get('/namespaces', storeKey('', name))?.object;
  }

  /** A namespace that is written is selected by its new labels. */
  #namespaceLabels(request: AdmissionRequest): JsonObject | undefined {
    if (namespaceOf(request) === '') return undefined;
    const isWritten = isNamespace(request.target.kind) && request.target.subresource === '';
    const found =
      isWritten && request.object !== undefined ? request.object : this.#namespace(request);
    return objectField(objectField(found ?? {}, 'metadata') ?? {}, 'labels') ?? {};
  }
}

/** Policies do not apply to policies. */
function isExempt({ target }: AdmissionRequest): boolean {
  return target.kind.names.group === group;
}

function specOf(object: JsonObject): JsonObject {
  return objectField(object, 'spec') ?? {};
}

/** As the server writes the object; a Scale is complete. */
function normalised(object: JsonObject, { target }: AdmissionRequest): JsonObject {
  return target.subresource === 'scale' ? object : target.kind.normalise(object);
}

function convert(object: JsonObject, from: ServedKind, to: ServedKind): JsonObject {
  if (from === to || stringField(object, 'kind') === 'Scale') return object;
  return inVersion(to, { object: inStorageVersion(from, object), version: 0 });
}
