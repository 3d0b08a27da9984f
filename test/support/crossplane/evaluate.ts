import { type Any, format, transform } from './transform.ts';

/** What Crossplane composes, by the documentation of patch-and-transform, of the environment and of claims. */
export interface Composed {
  /** By the name of the composed resource. */
  readonly objects: ReadonlyMap<string, Any>;
  /** Of the composite resource. */
  readonly status: Any;
}

/** What an evaluation starts from. */
export interface CompositionInput {
  /** All documents of the files. */
  readonly documents: readonly Any[];
  /** A claim or a composite resource. */
  readonly resource: Any;
  /** Status that providers report, by the name of the composed resource. */
  readonly observed: Readonly<Record<string, Any>>;
}

/** Evaluates a composition until nothing changes, as repeated reconciles do. */
export function evaluateComposition({ documents, resource, observed }: CompositionInput): Composed {
  const group = resource.apiVersion.split('/')[0];
  const xrd = documents.find(({ kind, spec }) => {
    const isKind = [spec?.names?.kind, spec?.claimNames?.kind].includes(resource.kind);
    return kind === 'CompositeResourceDefinition' && spec.group === group && isKind;
  });
  const preferred = xrd.spec.enforcedCompositionRef ?? xrd.spec.defaultCompositionRef;
  const all = documents.filter(
    ({ kind, spec }) =>
      kind === 'Composition' &&
      spec.compositeTypeRef.kind === xrd.spec.names.kind &&
      spec.compositeTypeRef.apiVersion.startsWith(`${group}/`),
  );
  const composition = all.find(({ metadata }) => metadata.name === preferred?.name) ?? all[0];
  const composite = compositeOf(resource, xrd);
  let composed: Composed = { objects: new Map(), status: {} };
  for (let round = 0; round < 5; round++) {
    const before = new Map(
      [...composed.objects].map(([name, object]) => [
        name,
        { ...object, status: observed[name] ?? {} },
      ]),
    );
    composed = reconcile(
      { ...composite, status: composed.status },
      { composition, documents, before },
    );
  }
  return composed;
}

/** The composite resource of a claim; its name is that of the conversion. */
function compositeOf(resource: Any, { spec }: Any): Any {
  const { name, namespace = 'default', labels = {}, ...metadata } = resource.metadata;
  const isClaim = spec.claimNames?.kind === resource.kind;
  const unique = spec.claimNames === undefined ? name : `${namespace}-${name}`;
  const claimLabels = {
    'crossplane.io/claim-name': name,
    'crossplane.io/claim-namespace': namespace,
  };
  const isNamespaced =
    spec.claimNames === undefined && (spec.scope ?? 'Namespaced') === 'Namespaced';
  return {
    ...withDefaults(resource, spec),
    metadata: {
      ...metadata,
      name: unique,
      uid: 'UID',
      ...(isNamespaced && { namespace }),
      labels: { ...labels, ...(isClaim && claimLabels), 'crossplane.io/composite': unique },
    },
  };
}

function withDefaults(resource: Any, { versions, claimNames }: Any): Any {
  const version = versions.find(({ referenceable }: Any) => referenceable) ?? versions[0];
  const { spec, ...rest } = resource;
  const { namespace = 'default', name } = resource.metadata;
  const full = defaulted(spec ?? {}, version.schema?.openAPIV3Schema?.properties?.spec);
  return { ...rest, spec: claimNames ? { ...full, claimRef: { name, namespace } } : full };
}

function defaulted(value: Any, schema: Any): Any {
  if (Array.isArray(value)) return value.map((each) => defaulted(each, schema?.items));
  if (typeof value !== 'object' || value === null) return value;
  const result = { ...value };
  for (const [name, each] of Object.entries<Any>(schema?.properties ?? {})) {
    if (result[name] === undefined && each.default !== undefined) result[name] = each.default;
    if (result[name] !== undefined) result[name] = defaulted(result[name], each);
  }
  return result;
}

interface World {
  readonly composition: Any;
  readonly documents: readonly Any[];
  readonly before: ReadonlyMap<string, Any>;
}

function reconcile(composite: Any, { composition, documents, before }: World): Composed {
  const { spec } = composition;
  const environment: Any = {};
  const desired: Any = { status: {} };
  const objects = new Map<string, Any>();
  const inputs =
    spec.mode === 'Pipeline'
      ? spec.pipeline.map(({ input }: Any) => input ?? {})
      : [{ ...spec, kind: 'Resources' }];
  for (const input of inputs) {
    const configs = input.spec?.environmentConfigs ?? input.environment?.environmentConfigs ?? [];
    Object.assign(environment, input.spec?.defaultData ?? input.environment?.defaultData);
    for (const config of configs)
      Object.assign(environment, configData(config, { composite, documents }));
    if (input.kind !== 'Resources') continue;
    for (const patch of input.environment?.patches ?? [])
      apply(patch, { composite, desired, environment, target: environment, source: environment });
    for (const template of input.resources ?? []) {
      const own = before.get(template.name ?? template.base.kind);
      const patches = inline(template.patches ?? [], input.patchSets ?? []);
      const name = template.name ?? template.base.kind;
      const target = structuredClone(template.base ?? objects.get(name));
      target.metadata ??= {};
      delete target.metadata.generateName;
      target.metadata.name ??= `${composite.metadata.name}-${name.toLowerCase().replaceAll('_', '-')}`;
      const isTo = ({ type = '' }: Any) => /^(?:Combine)?To/.test(type);
      if (own !== undefined)
        for (const patch of patches.filter(isTo))
          apply(patch, { composite, desired, environment, target, source: own });
      try {
        for (const patch of patches.filter((each) => !isTo(each)))
          apply(patch, { composite, desired, environment, target, source: target });
      } catch {
        // A failed patch leaves the resource as it was.
        if (own === undefined) continue;
      }
      objects.set(name, target);
    }
  }
  return { objects, status: desired.status };
}

function configData(config: Any, { composite, documents }: Any): Any {
  const configs = documents.filter(({ kind }: Any) => kind === 'EnvironmentConfig');
  if ((config.type ?? 'Reference') === 'Reference')
    return configs.find(({ metadata }: Any) => metadata.name === config.ref.name)?.data;
  const matching = configs.filter(({ metadata }: Any) =>
    config.selector.matchLabels.every(({ key, type, value, valueFromFieldPath }: Any) => {
      const wanted = type === 'Value' ? value : read(composite, valueFromFieldPath);
      return metadata.labels?.[key] === wanted;
    }),
  );
  return Object.assign({}, ...matching.map(({ data }: Any) => data));
}

function inline(patches: readonly Any[], sets: readonly Any[]): readonly Any[] {
  return patches.flatMap((patch) =>
    patch.type === 'PatchSet'
      ? sets.find(({ name }) => name === patch.patchSetName).patches
      : [patch],
  );
}

function apply(patch: Any, { composite, desired, environment, target, source }: Any): void {
  const { type = 'FromCompositeFieldPath' } = patch;
  const isEnvironment = source === environment;
  const fromComposite = /FromComposite/.test(type) || (isEnvironment && /ToEnvironment/.test(type));
  const from = fromComposite ? composite : /FromEnvironment/.test(type) ? environment : source;
  const toComposite = /ToComposite/.test(type) || (isEnvironment && /FromEnvironment/.test(type));
  const to = toComposite ? desired : /ToEnvironment/.test(type) ? environment : target;
  const paths: readonly string[] = patch.combine
    ? patch.combine.variables.map(({ fromFieldPath }: Any) => fromFieldPath)
    : [patch.fromFieldPath];
  const values = paths.map((path) => read(from, path));
  if (values.some((value) => value === undefined)) {
    if (patch.policy?.fromFieldPath === 'Required') throw new Error('required');
    return;
  }
  const start = patch.combine ? format(patch.combine.string.fmt, values) : values[0];
  const value = (patch.transforms ?? []).reduce(
    (each: Any, step: Any) => transform(step, each),
    start,
  );
  write(to, stepsOf(patch.toFieldPath ?? patch.fromFieldPath), (old) =>
    merged(old, value, patch.policy),
  );
}

function merged(old: Any, value: Any, policy: Any): Any {
  const { keepMapValues, appendSlice } = policy?.mergeOptions ?? {};
  const name = policy?.toFieldPath ?? (policy?.mergeOptions ? 'Force' : 'Replace');
  if (old === undefined || old === null || name === 'Replace') return structuredClone(value);
  const keeps = name.startsWith('Merge') || keepMapValues === true;
  const appends = name.includes('Append') || appendSlice === true;
  if (Array.isArray(old) && Array.isArray(value))
    return appends ? [...old, ...value] : keeps ? old : value;
  if (typeof old === 'object' && typeof value === 'object')
    return keeps ? { ...value, ...old } : { ...old, ...value };
  return keeps ? old : value;
}

function stepsOf(path: string): readonly (string | number)[] {
  return [...path.matchAll(/\[["']?([^"'\]]+)["']?\]|([^.[\]]+)/g)].map(([whole, inner, name]) => {
    if (inner === undefined) return name ?? '';
    return /^\[\d+\]$/.test(whole) ? Number(inner) : inner;
  });
}

function read(object: Any, path: string): Any {
  if (path === 'metadata.labels') {
    const own = Object.entries(object.metadata.labels ?? {}).filter(
      ([key]) => !key.startsWith('crossplane.io/'),
    );
    return own.length === 0 ? undefined : Object.fromEntries(own);
  }
  return stepsOf(path).reduce((value: Any, step) => value?.[step], object) ?? undefined;
}

function write(
  object: Any,
  [first = '', ...rest]: readonly (string | number)[],
  change: (old: Any) => Any,
): void {
  if (first === '*') {
    for (const index of object.keys()) write(object, [index, ...rest], change);
    return;
  }
  if (rest.length === 0) {
    object[first] = change(object[first]);
    return;
  }
  object[first] ??= typeof rest[0] === 'number' || rest[0] === '*' ? [] : {};
  write(object[first], rest, change);
}
