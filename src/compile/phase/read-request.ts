import type { CrossNamespace } from '../../definition/index.ts';
import { matchesGlob } from '../../util/glob.ts';
import type { CompiledRead } from '../compiled-templates.ts';
import type { Scope } from '../language/index.ts';
import type { ReadRequest, ReadScope } from '../operator-plan.ts';
import type { MissingHandler } from '../template/evaluate-slots.ts';
import { render } from '../template/render.ts';
import { type Place, RenderError } from '../template/render-error.ts';
import type { CompiledTemplate } from '../template/template.ts';
import { describeFound } from '../template/values.ts';
import { createForEach } from './for-each.ts';
import { clusterName, isObjectName } from './manifest.ts';
import { createRenderSelector, type RenderSelectorOptions } from './render-selector.ts';

/** Renders the namespaces of a read. A missing namespace is a RenderError, never an empty list. */
type RenderPlace = (scope: Scope, missing?: MissingHandler) => Promise<ReadScope>;

const own: ReadScope = Object.freeze({ kind: 'own' });

function createRenderPlace(read: CompiledRead, options: RenderSelectorOptions): RenderPlace {
  const { from, crossNamespace } = read.definition;
  switch (from.kind) {
    case 'own':
      return async () => own;
    case 'one':
      // Treated as a list of one, so that the error names the missing path.
      return read.namespace ? createNamed(read.namespace, read, options) : async () => own;
    case 'list': {
      const everywhere: ReadScope = { kind: 'all', ...allowedBy(crossNamespace) };
      return read.namespaces ? createNamed(read.namespaces, read, options) : async () => everywhere;
    }
    case 'selector': {
      const render = createRenderSelector(read.namespaceSelector, options);
      const allowed = allowedBy(crossNamespace);
      return async (scope, missing) => ({
        kind: 'selected',
        selector: await render(scope, missing),
        ...allowed,
      });
    }
  }
}

function createNamed(
  template: CompiledTemplate,
  { definition: { crossNamespace, from } }: CompiledRead,
  { vars, quotes }: RenderSelectorOptions,
): RenderPlace {
  const list = createForEach(template, vars);
  const { place } = template;
  return async (scope, missing) => {
    const elements = await list.elements(scope, missing);
    if (from.kind === 'one' && elements.length === 0) return own;
    const names = elements.map(({ item }) =>
      allowedNamespace(item, { crossNamespace, quotes, place, scope }),
    );
    return { kind: 'named', namespaces: [...new Set(names)].sort() };
  };
}

function allowedBy(crossNamespace: CrossNamespace): { readonly allowed?: readonly string[] } {
  return typeof crossNamespace === 'boolean' ? {} : { allowed: crossNamespace.namespaces };
}

interface NamespaceCheck {
  readonly crossNamespace: CrossNamespace;
  /** May messages quote values? */
  readonly quotes: boolean;
  readonly place: Place;
  readonly scope: Scope;
}

/** The value, if it is an allowed namespace. @throws RenderError */
function allowedNamespace(value: unknown, check: NamespaceCheck): string {
  const { crossNamespace, quotes, place, scope } = check;
  if (typeof value !== 'string' || !/^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/.test(value)) {
    const found = describeFound(value, quotes);
    throw wrong(`Expected a namespace name at ${place.field}, found ${found}`, place);
  }
  const own = (scope.self as { readonly metadata?: { readonly namespace?: string } }).metadata
    ?.namespace;
  if (value === own || typeof crossNamespace === 'boolean') return value;
  if (matchesGlob(value, crossNamespace.namespaces)) return value;
  const found = describeFound(value, quotes);
  throw wrong(
    `Expected a namespace that "crossNamespace" allows at ${place.field}, found ${found}`,
    place,
  );
}

function wrong(message: string, place: Place): RenderError {
  return new RenderError('wrong-type', message, place);
}

/** Renders the request of one read; undefined if the name is missing. */
export type RenderRequest = (
  scope: Scope,
  missing?: MissingHandler,
) => Promise<ReadRequest | undefined>;

/**
 * Creates the renderer of a read. A missing or invalid part of a selector is a RenderError, because it would select
 * too many objects.
 */
export function createRenderRequest(
  read: CompiledRead,
  options: RenderSelectorOptions,
): RenderRequest {
  const request =
    read.name === undefined
      ? createBySelector(read, options)
      : createByName(read, read.name, options);
  const { cluster } = read;
  if (cluster === undefined) return request;
  return async (scope, missing) => {
    const rendered = await request(scope, missing);
    const { quotes } = options;
    const name = await render(cluster, { scope, quotes, ...(missing && { missing }) });
    if (name === undefined || rendered === undefined) return undefined;
    return { ...rendered, cluster: clusterName(name, cluster.place, quotes) };
  };
}

function createBySelector(read: CompiledRead, options: RenderSelectorOptions): RenderRequest {
  const selector = createRenderSelector(read.selector, options);
  const place = createRenderPlace(read, options);
  return async (scope, missing) => ({
    by: 'selector',
    selector: await selector(scope, missing),
    scope: await place(scope, missing),
  });
}

function createByName(
  { namespace, definition: { crossNamespace } }: CompiledRead,
  name: CompiledTemplate,
  { quotes }: RenderSelectorOptions,
): RenderRequest {
  return async (scope, missing) => {
    const options = { scope, quotes, ...(missing && { missing }) };
    const value = await render(name, options);
    if (value === undefined) return undefined;
    if (typeof value !== 'string' || !isObjectName(value)) {
      const found = describeFound(value, quotes);
      const message = `Expected an object name at ${name.place.field}, found ${found}`;
      throw new RenderError('wrong-type', message, name.place);
    }
    if (namespace === undefined) return { by: 'name', name: value };
    const where = await render(namespace, options);
    if (where === undefined) return undefined;
    const check = { crossNamespace, quotes, place: namespace.place, scope };
    return { by: 'name', name: value, namespace: allowedNamespace(where, check) };
  };
}
