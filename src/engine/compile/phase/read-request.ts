import type { CrossNamespace } from '#definition';
import { matchesGlob } from '#util/glob.ts';
import type { CompiledRead } from '../compiled-templates.ts';
import type { Scope } from '../language/index.ts';
import type { ReadRequest, ReadScope } from '../operator-plan.ts';
import type { MissingHandler } from '../template/evaluate-slots.ts';
import { render } from '../template/render.ts';
import { type Place, RenderError } from '../template/render-error.ts';
import type { CompiledTemplate } from '../template/template.ts';
import { describeFound, fieldBelow } from '../template/values.ts';
import { createForEach } from './for-each.ts';
import { clusterName, isObjectName } from './manifest.ts';
import {
  createRenderSelector,
  createRenderWhole,
  type RenderSelectorOptions,
} from './render-selector.ts';

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
  const request = createRequest(read, options);
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

function createRequest(read: CompiledRead, options: RenderSelectorOptions): RenderRequest {
  if (read.name === undefined) return createBySelector(read, options);
  return read.isList
    ? createByNames(read, read.name, options)
    : createByName(read, read.name, options);
}

function createBySelector(read: CompiledRead, options: RenderSelectorOptions): RenderRequest {
  const { whole } = read.selector ?? {};
  const selector = whole
    ? createRenderWhole(whole, options)
    : createRenderSelector(read.selector, options);
  const place = createRenderPlace(read, options);
  return async (scope, missing) => ({
    by: 'selector',
    selector: await selector(scope, missing),
    scope: await place(scope, missing),
  });
}

function createByName(
  read: CompiledRead,
  name: CompiledTemplate,
  { quotes }: RenderSelectorOptions,
): RenderRequest {
  const placed = createPlaced(read, quotes);
  return async (scope, missing) => {
    const value = await render(name, { scope, quotes, ...(missing && { missing }) }).catch(
      withListHint,
    );
    if (value === undefined) return undefined;
    return placed({ by: 'name', name: objectName(value, name.place, { quotes }) }, scope, missing);
  };
}

/** At most so many objects of one resource are read by name. */
const maxNames = 1_000;

/** Without `optional`, a missing list or element is a RenderError, never an empty list. */
function createByNames(
  read: CompiledRead,
  name: CompiledTemplate,
  { vars, quotes }: RenderSelectorOptions,
): RenderRequest {
  const placed = createPlaced(read, quotes);
  const list = createForEach(name, vars);
  const { place } = name;
  const { optional } = read.definition;

  async function valuesOf(scope: Scope, missing?: MissingHandler): Promise<readonly unknown[]> {
    if (!optional) return (await list.elements(scope, missing)).map(({ item }) => item);
    const value = await render(name, { scope, quotes, ...(missing && { missing }) });
    if (value === undefined) return [];
    return Array.isArray(value) ? value.filter((each) => each !== null) : [value];
  }

  return async (scope, missing) => {
    const values = await valuesOf(scope, missing);
    if (values.length > maxNames) {
      const message = `Expected at most ${maxNames} names at ${place.field}, found "${values.length}"`;
      throw new RenderError('limit-reached', message, place);
    }
    const names = values.map((value, index) => objectName(value, place, { quotes, index }));
    return placed({ by: 'names', names: [...new Set(names)] }, scope, missing);
  };
}

/** The value, if it can be the name of an object; `index`: in a list. @throws RenderError */
function objectName(
  value: unknown,
  place: Place,
  { quotes, index }: { readonly quotes: boolean; readonly index?: number },
): string {
  if (typeof value === 'string' && isObjectName(value)) return value;
  const field = index === undefined ? place.field : fieldBelow(place.field, index);
  const found = describeFound(value, quotes);
  throw wrong(`Expected an object name at ${field}, found ${found}`, place);
}

/** The form of the expression did not show that it returns a list. */
function withListHint(error: unknown): never {
  if (!(error instanceof RenderError) || !error.message.endsWith('found a list')) throw error;
  const { failure } = error;
  throw error.withMessage(
    `${failure.message}. Write it as "\${ [ ... ] }" to read a list of names`,
  );
}

type NameRequest = Extract<ReadRequest, { by: 'name' | 'names' }>;

/** Completes a request with the namespace, if the read has one. Undefined: it is missing. */
function createPlaced({ namespace, definition }: CompiledRead, quotes: boolean) {
  const { crossNamespace } = definition;
  return async (
    request: NameRequest,
    scope: Scope,
    missing?: MissingHandler,
  ): Promise<NameRequest | undefined> => {
    if (namespace === undefined) return request;
    const where = await render(namespace, { scope, quotes, ...(missing && { missing }) });
    if (where === undefined) return undefined;
    const check = { crossNamespace, quotes, place: namespace.place, scope };
    return { ...request, namespace: allowedNamespace(where, check) };
  };
}
