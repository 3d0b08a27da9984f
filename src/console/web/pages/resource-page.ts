import { type GroupKind, gvkOf } from '#util/gvk.ts';
import { isJsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { withDescendants } from '#util/object-tree/created-kinds.ts';
import { ownerUidLabel, pausedAnnotation, requestAnnotation } from '#util/stored-names.ts';
import { errorOfResponse } from '../backend-error.ts';
import type { ConsoleBackend, ResourceRef, ResourceView } from '../contract.ts';
import { findNode, type LiveNode, liveTree, nodeId } from '../model/live-tree.ts';
import { placeOf, summaryOf, textOf } from '../model/object-summary.ts';
import {
  button,
  type Content,
  emptyBox,
  glyph,
  link,
  listProblem,
  loadingBox,
  staleNote,
  tabs,
} from '../parts/elements.ts';
import { age } from '../parts/moment.ts';
import { treeView } from '../parts/tree-view.ts';
import { h, type VNode } from '../preact.ts';
import { definitionHref, hrefOf, type ResourceTab, resourceTabs } from '../route.ts';
import type { ListNeed, Needs } from '../store/console-store.ts';
import type { DetailNeed } from '../store/detail.ts';
import { objectPath } from '../store/kind-index.ts';
import type { ListState } from '../store/object-list.ts';
import { detailKey, type ResourcePageView, type View } from '../view.ts';
import { annotate } from './actions.ts';
import { editTab } from './edit-tab.ts';
import { expressionsTab } from './expressions-tab.ts';
import { definitionOf, definitionsNeed, eventsNeed, kindOfRef } from './kinds.ts';
import { nodeDetail, openObjectKey } from './node-detail.ts';
import { timeline } from './timeline.ts';

type ResourceRoute = ResourcePageView['route'];

/** The list that holds the resource: of its namespace, which its tree needs too if a child has its kind. */
function ownNeed({ resource }: ResourceRoute): ListNeed {
  const { namespace, name } = resource;
  return {
    kind: kindOfRef(resource),
    ...(namespace !== undefined && { namespace }),
    fieldSelector: `metadata.name=${name}`,
  };
}

function resourceOf(route: ResourceRoute, store: View['store']): KubeObject | undefined {
  return store.list(ownNeed(route)).objects[0];
}

/** An entry of `status.children`. */
interface ReportedChild {
  readonly group: string;
  readonly kind: string;
  readonly version: string;
  readonly namespace: string;
  readonly name: string;
  readonly state: string;
}

function reportedChildren({ status }: KubeObject): readonly ReportedChild[] {
  const entries = isJsonObject(status) && Array.isArray(status.children) ? status.children : [];
  return entries.filter(isJsonObject).map((entry) => ({
    ...gvkOf(textOf(entry.apiVersion), textOf(entry.kind)),
    namespace: textOf(entry.namespace),
    name: textOf(entry.name),
    state: textOf(entry.state),
  }));
}

/**
 * Lists of the kinds of children, and of what they create. In all namespaces only where a child is elsewhere. Children have a label with
 * the UID of the resource; objects that controllers create for them do not.
 */
function childNeeds(
  resource: KubeObject,
  definition: KubeObject | undefined,
  store: View['store'],
): readonly ListNeed[] {
  const { namespace, uid = '' } = resource.metadata;
  const reported = reportedChildren(resource);
  const isElsewhere = (kind: string) =>
    reported.some((child) => child.kind === kind && child.namespace !== (namespace ?? ''));
  const direct = [...reported, ...recordedKinds(definition)];
  const needs = new Map<string, ListNeed>();
  for (const { group, kind } of withDescendants(direct)) {
    const isHere = namespace !== undefined && !isElsewhere(kind);
    const all = { kind: { group, kind }, ...(isHere && { namespace }) };
    needs.set(`${group}/${kind}`, all);
    if (isCreatedByControllers(direct, { group, kind })) continue;
    const own = { ...all, labelSelector: `${ownerUidLabel}=${uid}` };
    needs.set(`${group}/${kind}`, own);
    // An object that is not labelled yet: one with "updateStrategy: OnDelete" that existed before.
    if (isIncomplete(store.list(own), { reported, kind })) needs.set(`${group}/${kind} all`, all);
  }
  return [...needs.values()];
}

function isCreatedByControllers(direct: readonly GroupKind[], { group, kind }: GroupKind): boolean {
  const others = direct
    .filter((each) => each.group !== group || each.kind !== kind)
    .map((each) => ({ version: 'v1', ...each }));
  return withDescendants(others).some((each) => each.group === group && each.kind === kind);
}

/** Whether an object that the resource reports is not in the list. */
function isIncomplete(
  { status, objects }: ListState,
  { reported, kind }: { readonly reported: readonly ReportedChild[]; readonly kind: string },
): boolean {
  if (status !== 'live') return false;
  return reported.some(
    (child) =>
      child.kind === kind &&
      (child.state === 'Ready' || child.state === 'Progressing') &&
      !objects.some(
        ({ metadata }) =>
          metadata.name === child.name && (metadata.namespace ?? '') === child.namespace,
      ),
  );
}

/** Kinds of children that the definition has ever created: `apps/Deployment`. Their versions do not matter here. */
function recordedKinds(definition: KubeObject | undefined) {
  const status = isJsonObject(definition?.status) ? definition.status : {};
  const kinds = isJsonObject(status.kinds) ? status.kinds : {};
  const children = Array.isArray(kinds.children) ? kinds.children.map(textOf) : [];
  return children.map((text) => {
    const slash = text.lastIndexOf('/');
    const group = slash < 0 ? '' : text.slice(0, slash);
    return { group, kind: text.slice(slash + 1), version: 'v1' };
  });
}

function treeOf(view: ResourcePageView, resource: KubeObject): LiveNode {
  const { store, route, ui } = view;
  const definition = definitionOf(store, kindOfRef(route.resource));
  const listed = childNeeds(resource, definition, store).flatMap(
    (need) => store.list(need).objects,
  );
  const objects = [...new Map(listed.map((object) => [object.metadata.uid, object])).values()];
  const explained = store.detail<ResourceView>(detailKey('explain', route.resource)).value;
  return liveTree(resource, objects, {
    children: explained?.children ?? [],
    isFolded: !ui.isUnfolded,
  });
}

export function resourceNeeds(
  view: Pick<ResourcePageView, 'route' | 'store' | 'ui' | 'info'>,
  backend: ConsoleBackend,
): Needs {
  const { route, store, info } = view;
  const resource = resourceOf(route, store);
  const lists = [definitionsNeed, ownNeed(route)];
  if (resource === undefined) return { lists, details: [], records: [] };
  const isTree = route.tab === 'tree';
  const definition = definitionOf(store, kindOfRef(route.resource));
  const children = childNeeds(resource, definition, store).filter(
    ({ kind }) => store.kindOf(kind) !== undefined,
  );
  const selected = findNode(treeOf(view as ResourcePageView, resource), selectedId(route));
  const isOpen = isTree && selected?.object !== undefined;
  return {
    lists: [
      ...lists,
      ...(isTree ? [...children, eventsNeed(resource)] : []),
      ...(isOpen && route.detail === 'events' && selected.object !== undefined
        ? [eventsNeed(selected.object)]
        : []),
    ],
    details: [
      ...(isTree && definition !== undefined
        ? [explainNeed(route, resource, { store, backend, children })]
        : []),
      ...(isOpen && selected.object !== undefined
        ? [openObject(view, selected.object, backend)]
        : []),
    ],
    records: isTree && info.hasRecords ? [route.resource] : [],
  };
}

/** It is explained again when a specification changes, not with each status. */
function explainNeed(
  { resource: ref }: ResourceRoute,
  resource: KubeObject,
  {
    store,
    backend,
    children,
  }: {
    readonly store: View['store'];
    readonly backend: ConsoleBackend;
    readonly children: readonly ListNeed[];
  },
): DetailNeed {
  const { uid = '', generation = 0, annotations } = resource.metadata;
  const generations = children
    .flatMap((need) => store.list(need).objects)
    .filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid))
    .map(({ metadata }) => `${metadata.uid}:${metadata.generation ?? metadata.resourceVersion}`);
  return {
    key: detailKey('explain', ref),
    version: [uid, generation, JSON.stringify(annotations), ...generations].join(' '),
    load: (signal) => backend.explain(ref, signal),
  };
}

/** The whole object, with the owners of its fields, which lists leave out. */
function openObject(
  { store, ui }: Pick<View, 'store' | 'ui'>,
  object: KubeObject,
  backend: ConsoleBackend,
): DetailNeed {
  const { uid = '', resourceVersion = '' } = object.metadata;
  const reveal = ui.revealed === uid;
  return {
    key: openObjectKey(object),
    version: `${resourceVersion} ${reveal}`,
    async load(signal) {
      const kind = store.kindOf(kindOfRef({ ...object, ...object.metadata }));
      if (kind === undefined) throw new Error(`The API server does not serve ${object.kind}`);
      const path = objectPath(kind, object.metadata);
      const response = await backend.request(
        { method: 'GET', path, ...(reveal && { reveal }) },
        signal,
      );
      const error = errorOfResponse(response);
      if (error !== undefined) throw error;
      return response.body;
    },
  };
}

function selectedId({ node, resource }: ResourceRoute): string {
  return node ?? nodeId(resource);
}

/** A resource: its live tree, the selected object of it, and its reconciles. */
export function resourcePage(view: ResourcePageView): VNode {
  const { store, route } = view;
  const list = store.list(ownNeed(route));
  const resource = resourceOf(route, store);
  const { kind } = route.resource;
  if (resource === undefined)
    return h(
      'main',
      null,
      h('h1', null, `${kind} ${placeOf(route.resource)}`),
      listProblem(list, { what: kind, right: `list and watch ${kind}` }) ??
        emptyBox(
          `There is no ${kind} "${placeOf(route.resource)}"`,
          link(hrefOf({ page: 'resources', kind }), `All resources of kind ${kind}`),
        ),
    );
  return h(
    'main',
    null,
    header(view, resource),
    staleNote(list, 'This resource'),
    tabs(
      'Views of the resource',
      resourceTabs.map((tab) => ({
        label: tab === 'edit' && view.info.canEdit ? 'Edit' : tabLabels[tab],
        href: hrefOf({ page: 'resource', resource: route.resource, tab, detail: 'wanted' }),
        isCurrent: tab === route.tab,
      })),
    ),
    content(view, resource),
  );
}

const tabLabels: Readonly<Record<ResourceTab, string>> = {
  tree: 'Tree',
  edit: 'What if',
  expressions: 'Expressions',
};

function content(view: ResourcePageView, resource: KubeObject): Content {
  switch (view.route.tab) {
    case 'edit':
      return editTab(view, resource);
    case 'expressions':
      return expressionsTab(view);
    default:
      return treeTab(view, resource);
  }
}

function treeTab(view: ResourcePageView, resource: KubeObject): Content {
  const { store, route, ui, actions, isNarrow } = view;
  const definition = definitionOf(store, kindOfRef(route.resource));
  const needs = childNeeds(resource, definition, store);
  const problems = needs
    .map((need) => ({ need, list: store.list(need) }))
    .filter(({ list }) => list.status === 'forbidden' || list.status === 'failed');
  const root = treeOf(view, resource);
  const selected = selectedId(route);
  const { records } = store.records(route.resource);
  const record = records.find(({ number }) => number === route.reconcile);
  const touched = new Set(
    (record?.children ?? [])
      .filter(({ verdict }) => verdict !== 'unchanged' && verdict !== 'omitted')
      .map((child) => nodeId(refOfChild(child))),
  );
  const node = findNode(root, selected) ?? root;
  const isLoading = needs.some(
    (need) => store.list(need).status === 'loading' && store.kindOf(need.kind) !== undefined,
  );
  return [
    problems.map(({ need, list }) =>
      h(
        'p',
        { class: 'stale-note', role: 'status', key: need.kind.kind },
        glyph('unknown'),
        ` ${need.kind.kind} is not shown: ${list.message}`,
      ),
    ),
    isLoading && root.children.length === 0
      ? loadingBox('the tree')
      : treeView({
          root,
          selected: node.id,
          touched,
          isNarrow,
          hrefOf: ({ id }) => hrefOf({ ...route, node: id }),
        }),
    root.hidden > 0 || ui.isUnfolded
      ? button(ui.isUnfolded ? 'Shorten long lists' : 'Show all objects', () =>
          actions.set({ isUnfolded: !ui.isUnfolded }),
        )
      : null,
    nodeDetail(view, node),
    timeline(view, resource),
  ];
}

function refOfChild(child: {
  kind: string;
  apiVersion: string;
  namespace: string;
  name: string;
  id: string;
}): ResourceRef {
  const { kind, apiVersion, namespace, name, id } = child;
  return { kind, apiVersion, name: name || id, ...(namespace !== '' && { namespace }) };
}

function header(view: ResourcePageView, resource: KubeObject): VNode {
  const { store, route } = view;
  const { health, state, message } = summaryOf(resource);
  const definition = definitionOf(store, kindOfRef(route.resource))?.metadata.name;
  const isPaused = resource.metadata.annotations?.[pausedAnnotation] === 'true';
  return h(
    'header',
    { class: 'page' },
    h(
      'h1',
      null,
      glyph(health),
      ' ',
      h('span', { class: 'kind' }, resource.kind),
      ' ',
      placeOf(resource.metadata),
    ),
    h(
      'p',
      { class: 'muted' },
      h('span', { class: `state ${health}` }, state),
      ' \u00b7 ',
      definition === undefined
        ? 'no definition serves its kind'
        : ['definition ', link(definitionHref(definition), definition)],
      ' \u00b7 created ',
      age(resource.metadata.creationTimestamp, view.nowMs),
      ' ago',
    ),
    message === '' ? null : h('p', { class: 'message' }, message),
    view.info.canEdit && definition !== undefined ? actionsOf(view, resource, isPaused) : null,
  );
}

function actionsOf(view: ResourcePageView, resource: KubeObject, isPaused: boolean): VNode {
  const { actions } = view;
  return h(
    'div',
    { class: 'actions' },
    button(
      'Reconcile now',
      () =>
        actions.run(() =>
          annotate(view, resource, {
            annotations: { [requestAnnotation]: new Date(view.nowMs).toISOString() },
            done: 'A reconcile is requested',
          }),
        ),
      { isDisabled: isPaused, title: `Sets the annotation ${requestAnnotation}` },
    ),
    button(
      isPaused ? 'Resume' : 'Pause',
      () =>
        actions.run(() =>
          annotate(view, resource, {
            annotations: { [pausedAnnotation]: isPaused ? null : 'true' },
            done: isPaused ? 'The resource resumes' : 'The resource is paused',
          }),
        ),
      { title: `Sets the annotation ${pausedAnnotation}` },
    ),
  );
}
