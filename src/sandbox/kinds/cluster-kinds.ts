import type { JsonObject } from '#util/json.ts';
import { fieldOf, listField, objectField, stringField, withField } from '../json-fields.ts';
import { dnsLabel, qualifiedName } from '../metadata/name-rules.ts';
import { invalidField } from '../status/field-error.ts';
import type { BuiltinRules } from './builtin-kind.ts';
import { errorsOf, fields } from './field-checks.ts';
import { withMetadata } from './generation.ts';
import { resourceNames } from './served-kind.ts';

const namespaceChecks = fields({
  'spec.finalizers[]': ({ value, at }) => {
    const name = String(value);
    const field = at.replace(/\[\d+\]$/, '');
    const detail = 'name is neither a standard finalizer name nor is it fully qualified';
    const isKnown =
      name.includes('/') || ['kubernetes', 'orphan', 'foregroundDeletion'].includes(name);
    return [
      ...qualifiedName(name).map((message) => invalidField(field, name, message)),
      ...(isKnown ? [] : [invalidField(field, name, detail)]),
    ];
  },
});

export const namespaceRules: BuiltinRules = {
  names: resourceNames({
    apiVersion: 'v1',
    kind: 'Namespace',
    plural: 'namespaces',
    namespaced: false,
    shortNames: ['ns'],
  }),
  hasStatus: true,
  nameRule: dnsLabel,
  selectableFields: ['status.phase'],
  fillDefaults(object) {
    const metadata = objectField(object, 'metadata') ?? {};
    const name = stringField(metadata, 'name') ?? '';
    if (name === '') return object;
    const labels = { ...objectField(metadata, 'labels'), 'kubernetes.io/metadata.name': name };
    return withMetadata(object, 'labels', labels);
  },
  prepareCreate(object) {
    const spec = objectField(object, 'spec') ?? {};
    const others = listField(spec, 'finalizers').filter((name) => name !== 'kubernetes');
    const finalizers = [...others, 'kubernetes'];
    return { ...object, spec: { ...spec, finalizers }, status: { phase: 'Active' } };
  },
  validate: (namespace) => errorsOf(namespaceChecks, namespace),
  protectedNames: {
    names: ['default', 'kube-public', 'kube-system'],
    because: 'this namespace may not be deleted',
  },
  prepareDelete: withTerminatingPhase,
  prepareUpdate(object, before) {
    const finalizers = fieldOf(objectField(before, 'spec') ?? {}, 'finalizers');
    return withField(object, 'spec', finalizers === undefined ? {} : { finalizers });
  },
};

/** A namespace is deleted when its content is deleted. */
function withTerminatingPhase(object: JsonObject): JsonObject {
  const status = { ...objectField(object, 'status'), phase: 'Terminating' };
  return withMetadata({ ...object, status }, 'deletionGracePeriodSeconds', undefined);
}

export const serviceAccountRules: BuiltinRules = {
  names: resourceNames({
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    plural: 'serviceaccounts',
    namespaced: true,
    shortNames: ['sa'],
  }),
};

export const leaseRules: BuiltinRules = {
  names: resourceNames({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    plural: 'leases',
    namespaced: true,
  }),
  createsOnUpdate: true,
  allowsUnconditionalUpdate: false,
  validate(object) {
    const spec = objectField(object, 'spec') ?? {};
    const duration = spec.leaseDurationSeconds;
    const transitions = spec.leaseTransitions;
    const holder = spec.holderIdentity;
    return [
      ...(typeof duration === 'number' && duration <= 0
        ? [invalidField('spec.leaseDurationSeconds', duration, 'must be greater than 0')]
        : []),
      ...(typeof transitions === 'number' && transitions < 0
        ? [invalidField('spec.leaseTransitions', transitions, 'must be greater than or equal to 0')]
        : []),
      ...(holder === ''
        ? [invalidField('spec.holderIdentity', '', 'holderIdentity must not be empty')]
        : []),
    ];
  },
};
