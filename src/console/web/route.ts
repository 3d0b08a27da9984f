import { gvkOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { ResourceRef } from './contract.ts';

/** The page of an address. */
export type Route =
  | { readonly page: 'overview' }
  | { readonly page: 'clusters' }
  | { readonly page: 'resources'; readonly kind?: string; readonly only?: 'not-ready' }
  | { readonly page: 'definition'; readonly name: string; readonly tab: DefinitionTab }
  | {
      readonly page: 'resource';
      readonly resource: ResourceRef;
      readonly tab: ResourceTab;
      /** The selected object: `Kind/namespace/name`. Undefined: the resource itself. */
      readonly node?: string;
      readonly detail: NodeTab;
      /** The selected reconcile. */
      readonly reconcile?: number;
    }
  /** The files beside the pages, on a window that is too narrow for both. */
  | { readonly page: 'files' }
  | { readonly page: 'unknown' };

export const definitionTabs = [
  'graph',
  'source',
  'resources',
  'rollout',
  'rights',
  'events',
] as const;
export const resourceTabs = ['tree', 'edit', 'expressions'] as const;
export const nodeTabs = ['wanted', 'live', 'differences', 'owners', 'events'] as const;
export type DefinitionTab = (typeof definitionTabs)[number];
export type ResourceTab = (typeof resourceTabs)[number];
export type NodeTab = (typeof nodeTabs)[number];

/** Reads the fragment of an address. */
export function parseRoute(fragment: string): Route {
  const [path = '', query = ''] = fragment.replace(/^#?\/?/, '').split('?');
  const parameters = new URLSearchParams(query);
  const steps = path
    .split('/')
    .filter((step) => step !== '')
    .map(decode);
  const [page, ...rest] = steps;
  if (page === undefined) return { page: 'overview' };
  if (page === 'files' && rest.length === 0) return { page };
  if (page === 'clusters' && rest.length === 0) return { page };
  if (page === 'definitions' && rest[0] !== undefined)
    return {
      page: 'definition',
      name: rest[0],
      tab: oneOf(definitionTabs, parameters.get('tab')),
    };
  if (page === 'resources' && rest.length === 0) {
    const kind = parameters.get('kind');
    return {
      page: 'resources',
      ...(kind !== null && { kind }),
      ...(parameters.get('only') === 'not-ready' && { only: 'not-ready' as const }),
    };
  }
  const resource = page === 'resources' ? resourceOf(rest) : undefined;
  if (resource === undefined) return { page: 'unknown' };
  const node = parameters.get('node');
  const reconcile = Number(parameters.get('reconcile') ?? '');
  return {
    page: 'resource',
    resource,
    tab: oneOf(resourceTabs, parameters.get('tab')),
    detail: oneOf(nodeTabs, parameters.get('detail')),
    ...(node !== null && { node }),
    ...(reconcile > 0 && { reconcile }),
  };
}

/** The address of a page, from `#` on. */
export function hrefOf(route: Route): string {
  switch (route.page) {
    case 'files':
      return '#/files';
    case 'definition':
      return withQuery(`#/definitions/${encodeURIComponent(route.name)}`, {
        tab: route.tab === 'graph' ? undefined : route.tab,
      });
    case 'resources':
      return withQuery('#/resources', { kind: route.kind, only: route.only });
    case 'resource': {
      const { apiVersion, kind, namespace = '-', name } = route.resource;
      const steps = [...apiVersion.split('/'), kind, namespace, name].map(encodeURIComponent);
      return withQuery(`#/resources/${steps.join('/')}`, {
        tab: route.tab === 'tree' ? undefined : route.tab,
        node: route.node,
        detail: route.detail === 'wanted' ? undefined : route.detail,
        reconcile: route.reconcile === undefined ? undefined : String(route.reconcile),
      });
    }
    case 'clusters':
      return '#/clusters';
    default:
      return '#/';
  }
}

/** The address of a resource. */
export function resourceHref({
  apiVersion,
  kind,
  metadata: { namespace, name },
}: KubeObject): string {
  const resource = { apiVersion, kind, name, ...(namespace !== undefined && { namespace }) };
  return hrefOf({ page: 'resource', resource, tab: 'tree', detail: 'wanted' });
}

export function definitionHref(name: string, tab: DefinitionTab = 'graph'): string {
  return hrefOf({ page: 'definition', name, tab });
}

/** `group/version/Kind/namespace/name`, without the group for the core group; `-`: no namespace. */
function resourceOf(steps: readonly string[]): ResourceRef | undefined {
  const [name, namespace, kind, version, group] = steps.toReversed();
  if (name === undefined || namespace === undefined || kind === undefined) return undefined;
  if (version === undefined || steps.length > 5) return undefined;
  const apiVersion = group === undefined ? version : `${group}/${version}`;
  const { kind: known } = gvkOf(apiVersion, kind);
  return { apiVersion, kind: known, name, ...(namespace !== '-' && { namespace }) };
}

function decode(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}

function oneOf<Value extends string>(
  values: readonly [Value, ...Value[]],
  text: string | null,
): Value {
  return values.find((value) => value === text) ?? values[0];
}

function withQuery(path: string, query: Readonly<Record<string, string | undefined>>): string {
  const entries = Object.entries(query).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return entries.length === 0 ? path : `${path}?${new URLSearchParams(entries)}`;
}
