import { isJsonObject, pointerTo } from '#util/json.ts';
import type { Finding } from '../finding.ts';
import { describeFound, fieldOf, itemsAt, mapAt, valueAt } from '../tree.ts';
import { isDnsLabel1035, isDnsSubdomain, type Rule } from './rule.ts';

const names = '/spec/crd/names';

/** Group, kind and names of a CRD are valid for the API server. */
export const checkCrdNames: Rule = function* (document) {
  yield* checkGroup(valueAt(document, '/spec/crd/group'));
  for (const field of ['plural', 'singular'] as const) {
    yield* checkLabel(valueAt(document, `${names}/${field}`), `${names}/${field}`);
  }
  for (const field of ['shortNames', 'categories'] as const) {
    for (const { value, path } of itemsAt(document, `${names}/${field}`))
      yield* checkLabel(value, path);
  }
  for (const { value, path } of itemsAt(document, `${names}/shortNames`))
    yield* checkShortName(value, path);
  yield* checkKinds(mapAt(document, names));
};

/** Short names of kinds that Kubernetes serves itself, and names of these kinds. */
const builtinShortNames: Readonly<Record<string, string>> = {
  cj: 'CronJob',
  cm: 'ConfigMap',
  crd: 'CustomResourceDefinition',
  crds: 'CustomResourceDefinition',
  cs: 'ComponentStatus',
  csr: 'CertificateSigningRequest',
  deploy: 'Deployment',
  ds: 'DaemonSet',
  ep: 'Endpoints',
  ev: 'Event',
  hpa: 'HorizontalPodAutoscaler',
  ing: 'Ingress',
  limits: 'LimitRange',
  netpol: 'NetworkPolicy',
  no: 'Node',
  ns: 'Namespace',
  pc: 'PriorityClass',
  pdb: 'PodDisruptionBudget',
  po: 'Pod',
  pv: 'PersistentVolume',
  pvc: 'PersistentVolumeClaim',
  quota: 'ResourceQuota',
  rc: 'ReplicationController',
  rs: 'ReplicaSet',
  sa: 'ServiceAccount',
  sc: 'StorageClass',
  sts: 'StatefulSet',
  svc: 'Service',
};

function* checkShortName(value: unknown, path: string): Iterable<Finding> {
  if (typeof value !== 'string' || !Object.hasOwn(builtinShortNames, value)) return;
  yield {
    severity: 'warning',
    code: 'invalid-name',
    path,
    message: `"${value}" is the short name of the built-in kind "${builtinShortNames[value]}", which kubectl prefers`,
    hint: 'Use another short name',
  };
}

function* checkGroup(group: unknown): Iterable<Finding> {
  if (typeof group !== 'string') return;
  if (isDnsSubdomain(group) && group.includes('.')) return;
  yield {
    code: 'invalid-name',
    path: '/spec/crd/group',
    message: `Expected a domain in lower case with at least one dot, found ${describeFound(group)}`,
    hint: 'For example "apps.example.com"',
  };
}

function* checkLabel(value: unknown, path: string): Iterable<Finding> {
  if (typeof value !== 'string' || isDnsLabel1035(value)) return;
  yield {
    code: 'invalid-name',
    path,
    message: `Expected lower-case letters, digits and "-" (at most 63, starting with a letter), found ${describeFound(value)}`,
    hint: isDnsLabel1035(value.toLowerCase()) ? `Write "${value.toLowerCase()}"` : undefined,
  };
}

function* checkKinds({ kind, listKind }: { readonly [field: string]: unknown }): Iterable<Finding> {
  for (const [field, value] of [
    ['kind', kind],
    ['listKind', listKind],
  ] as const) {
    if (typeof value !== 'string' || isKind(value)) continue;
    const capital = value.charAt(0).toUpperCase() + value.slice(1);
    yield {
      code: 'invalid-name',
      path: pointerTo(names, field),
      message: `Expected a kind in CamelCase, found ${describeFound(value)}`,
      hint: isKind(capital) ? `Write "${capital}"` : undefined,
    };
  }
  if (typeof kind === 'string' && kind === listKind) {
    const message = `Expected a name different from "kind", found ${describeFound(listKind)}`;
    yield { code: 'invalid-name', path: `${names}/listKind`, message };
  }
}

function isKind(value: string): boolean {
  return /^[A-Z]/.test(value) && isDnsLabel1035(value.toLowerCase());
}

/** A definition serves one kind: a new one (`crd`) or an existing one (`for`). */
export const checkCrdOrFor: Rule = function* (document) {
  const spec = valueAt(document, '/spec');
  if (!isJsonObject(spec)) return;
  const hasCrd = Object.hasOwn(spec, 'crd');
  const hasFor = Object.hasOwn(spec, 'for');
  if (hasCrd && hasFor) {
    const message = 'A definition has either "crd" or "for", found both';
    yield { code: 'invalid-value', path: '/spec/for', at: 'key', message };
  } else if (!hasCrd && !hasFor) {
    yield {
      code: 'missing-field',
      path: '/spec/crd',
      at: 'parent-key',
      message: 'Missing field "crd": a definition requires "crd" or "for"',
    };
  }
};

const annotation = 'api-approved.kubernetes.io';

/** Groups of the Kubernetes community require an annotation with the approval of the API, or with `unapproved`. */
export const checkCrdApproval: Rule = function* (document) {
  const group = valueAt(document, '/spec/crd/group');
  if (typeof group !== 'string' || !/(?:^|\.)(?:k8s|kubernetes)\.io$/.test(group)) return;
  const value = fieldOf(mapAt(document, '/spec/crd/metadata/annotations'), annotation);
  const hint = `Add "metadata: { annotations: { ${annotation}: <URL, or a string that starts with unapproved> } }" to "crd", or use another group`;
  if (value === undefined || value === '') {
    const message = `Group "${group}" is protected: its CRDs require the annotation "${annotation}"`;
    yield { code: 'invalid-crd', path: '/spec/crd/group', message, hint };
  } else if (typeof value === 'string' && !isApproval(value)) {
    const path = `/spec/crd/metadata/annotations/${annotation}`;
    const message = `Expected a URL or a string that starts with "unapproved", found ${describeFound(value)}`;
    yield { code: 'invalid-crd', path, message };
  }
};

function isApproval(value: string): boolean {
  return value.startsWith('unapproved') || (/^[a-z]+:\/\/[^/]/i.test(value) && URL.canParse(value));
}

/** Reports a whole CustomResourceDefinition under `crd`, which expects its spec. */
export const checkWholeCrd: Rule = function* (document) {
  const crd = mapAt(document, '/spec/crd');
  if (!isWholeCrd(crd)) return;
  yield {
    code: 'invalid-value',
    path: '/spec/crd',
    at: 'key',
    message:
      'Expected the spec of a CustomResourceDefinition, found a whole CustomResourceDefinition',
    hint: 'Paste the contents of its "spec"; "metadata" may contain labels and annotations',
  };
};

/** Whether `crd` is a whole CustomResourceDefinition; other findings about it are dropped. */
export function isWholeCrd(crd: unknown): boolean {
  return fieldOf(crd, 'kind') === 'CustomResourceDefinition';
}
