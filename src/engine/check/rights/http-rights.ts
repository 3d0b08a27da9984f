import type { OperatorPlan } from '#compile';
import type { ChildDefinition } from '#definition';
import { isPlaced } from '#definition';
import { type Gvk, gvkOf } from '#util/gvk.ts';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import { type AccessRule, type MergedRule, mergeRules } from './access-rule.ts';

const group = 'homeostat.dev';
const kinds = ['HttpEndpoint', 'HttpObject'];
const secretGvk = gvkOf('v1', 'Secret');
const configMapGvk = gvkOf('v1', 'ConfigMap');
const accountGvk = gvkOf('v1', 'ServiceAccount');

/** Of the runtime itself, with the kinds HttpEndpoint and HttpObject. */
export const httpRules: readonly AccessRule[] = [
  rule('apiextensions.k8s.io', 'customresourcedefinitions', ['create', 'patch'], {
    reason: 'installs and updates the kinds HttpEndpoint and HttpObject',
    names: [`httpendpoints.${group}`, `httpobjects.${group}`],
  }),
  rule(group, 'httpendpoints', ['get', 'list', 'watch', 'patch'], { reason: 'HttpEndpoints' }),
  rule(group, 'httpobjects', ['get', 'list', 'watch', 'patch'], { reason: 'HttpObjects' }),
  rule(group, 'httpendpoints/status', ['patch'], { reason: 'status of HttpEndpoints' }),
  rule(group, 'httpobjects/status', ['patch'], { reason: 'status of HttpObjects' }),
  rule(group, 'httpobjects/finalizers', ['update'], {
    reason: 'owner references of their Secrets (OwnerReferencesPermissionEnforcement)',
  }),
  rule('', 'namespaces', ['list', 'watch'], {
    reason: 'which namespaces have the label homeostat.dev/http',
  }),
  rule('', 'services', ['get'], { reason: 'whether the Service of an HttpEndpoint selects Pods' }),
  rule('', 'pods', ['list'], { reason: 'whether these Pods have an address of their own' }),
  rule('discovery.k8s.io', 'endpointslices', ['list', 'watch'], {
    reason: 'whether its addresses are those of these Pods, and the addresses of the API server',
  }),
];

/** In namespaces with the label `homeostat.dev/http`. */
export const httpValueRules: readonly AccessRule[] = [
  {
    ...rule('', 'secrets', ['get', 'list', 'watch', 'create', 'patch'], {
      reason: 'credentials and inputs, and Secrets for values of answers',
    }),
    purpose: 'http-values',
  },
  { ...rule('', 'configmaps', ['list', 'watch'], { reason: 'inputs' }), purpose: 'http-values' },
];

/** For endpoints with `auth.login`, by the names of their service accounts. */
export const httpLoginRules: readonly AccessRule[] = [
  {
    ...rule('', 'serviceaccounts', ['get'], { reason: 'whether it names its HttpEndpoint' }),
    purpose: 'http-logins',
  },
  {
    ...rule('', 'serviceaccounts/token', ['create'], { reason: 'logins of HttpEndpoints' }),
    purpose: 'http-logins',
  },
];

/** A right of a definition. */
export interface HttpRight extends Pick<AccessRule, 'names' | 'verbs' | 'purpose' | 'reason'> {
  readonly gvk: Gvk;
  readonly subresource?: string;
}

/** What the runtime needs for the objects behind HTTP of a definition, apart from those that every child needs. */
export interface HttpRights {
  /** Of the runtime itself. */
  readonly rules: readonly AccessRule[];
  readonly rights: readonly HttpRight[];
  readonly notes: readonly string[];
}

/** The rights for Secrets, ConfigMaps and service accounts that the templates of a definition name. Pure. */
export function httpRights({ definition, reads }: OperatorPlan): HttpRights {
  const { children, onDelete, name } = definition;
  const isHttp = (gvk: Gvk) => gvk.group === group && kinds.includes(gvk.kind);
  const own = [...children, ...(onDelete?.children ?? [])].filter(
    (child) => isHttp(child.gvk) && !isPlaced(child),
  );
  if (own.length === 0 && !reads.some(({ gvk }) => isHttp(gvk)))
    return { rules: [], rights: [], notes: [] };
  const rules = httpRules.map((each) => ({ ...each, reason: `${name}: ${each.reason}` }));
  const found = own.map(childRights);
  return {
    rules,
    rights: found.flatMap(({ rights }) => rights),
    notes: found.flatMap(({ notes }) => notes.map((note) => `${name}: ${note}`)),
  };
}

function childRights({ id, template }: ChildDefinition): Omit<HttpRights, 'rules'> {
  const references = referencesIn(template);
  const rights = references.flatMap((reference) => rightsFor(reference, id));
  const hasComputed = references.some(({ name }) => name === undefined);
  const note = `child "${id}" has computed names of Secrets, ConfigMaps or service accounts: these rules have no names; Roles in the namespaces with the label homeostat.dev/http are narrower`;
  return { rights, notes: hasComputed ? [note] : [] };
}

function rightsFor({ kind, name }: Reference, child: string): readonly HttpRight[] {
  const names = name === undefined ? {} : { names: [name] };
  const values = {
    ...names,
    purpose: 'http-values',
    reason: `values of its child "${child}"`,
  } as const;
  const login = {
    ...names,
    gvk: accountGvk,
    purpose: 'http-logins',
    reason: `the login of its child "${child}"`,
  } as const;
  switch (kind) {
    case 'secret':
      return [{ gvk: secretGvk, verbs: ['list', 'watch'], ...values }];
    case 'configMap':
      return [{ gvk: configMapGvk, verbs: ['list', 'watch'], ...values }];
    case 'output':
      return [{ gvk: secretGvk, verbs: ['get', 'create', 'patch'], ...values }];
    case 'account':
      return [
        { ...login, verbs: ['get'] },
        { ...login, subresource: '/token', verbs: ['create'] },
      ];
  }
}

/** What a template names. Undefined name: it is computed. */
interface Reference {
  readonly kind: 'secret' | 'configMap' | 'output' | 'account';
  readonly name: string | undefined;
}

function referencesIn(template: unknown): readonly Reference[] {
  const spec = isJsonObject(template) ? template.spec : undefined;
  // A computed spec may name anything.
  if (!isJsonObject(spec))
    return [
      { kind: 'secret', name: undefined },
      { kind: 'output', name: undefined },
    ];
  const { secret, auth } = spec;
  const login = isJsonObject(auth) ? auth.login : undefined;
  const account = isJsonObject(login) ? login.serviceAccount : undefined;
  return [
    ...valueReferences(spec),
    ...(secret === undefined ? [] : [{ kind: 'output' as const, name: nameOf(secret) }]),
    ...(account === undefined ? [] : [{ kind: 'account' as const, name: nameOf(account) }]),
  ];
}

/** `secretKeyRef` and `configMapKeyRef`, wherever they are; the plain data of `desired` aside. */
function valueReferences({ desired: _, ...spec }: JsonObject): readonly Reference[] {
  return Object.entries(spec).flatMap(([field, value]): readonly Reference[] => {
    if (field === 'secretKeyRef') return [{ kind: 'secret', name: nameOf(value) }];
    if (field === 'configMapKeyRef') return [{ kind: 'configMap', name: nameOf(value) }];
    if (/From$/.test(field) && typeof value === 'string')
      return [{ kind: 'secret', name: undefined }];
    return isJsonObject(value) ? valueReferences(value) : [];
  });
}

function nameOf(reference: unknown): string | undefined {
  const name = isJsonObject(reference) ? reference.name : undefined;
  return typeof name === 'string' && !/[$]\{|\{\{/.test(name) ? name : undefined;
}

/** Of the chart. */
export function mergedHttpRules(): Readonly<
  Record<'http' | 'httpValues' | 'httpLogins', readonly MergedRule[]>
> {
  return {
    http: mergeRules(httpRules),
    httpValues: mergeRules(httpValueRules),
    httpLogins: mergeRules(httpLoginRules),
  };
}

function rule(
  apiGroup: string,
  resource: string,
  verbs: readonly string[],
  more: Pick<AccessRule, 'names' | 'reason'>,
): AccessRule {
  return { ...{ apiGroup, resource, verbs, purpose: 'http' }, ...more };
}
