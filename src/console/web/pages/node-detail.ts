import type { KubeObject } from '#util/kube-object.ts';
import type { ChangeView, ResourceView } from '../contract.ts';
import { type LiveNode, nodeId } from '../model/live-tree.ts';
import { type OwnedField, ownedFields } from '../model/owned-fields.ts';
import { type WantedField, wantedFields } from '../model/wanted-fields.ts';
import { yamlText } from '../model/yaml-lines.ts';
import { CopyButton } from '../parts/copy-button.ts';
import { dataTable } from '../parts/data-table.ts';
import {
  button,
  type Content,
  code,
  emptyBox,
  errorBox,
  glyph,
  loadingBox,
  muted,
  stateText,
  tabs,
} from '../parts/elements.ts';
import { titleOf } from '../parts/tree-view.ts';
import { yamlView } from '../parts/yaml-view.ts';
import { h, type VNode } from '../preact.ts';
import { hrefOf, type NodeTab, nodeTabs } from '../route.ts';
import { detailKey, type ResourcePageView } from '../view.ts';
import { remove } from './actions.ts';
import { changesView } from './changes-view.ts';
import { eventsTable } from './events-table.ts';

/** The key of an opened object. */
export function openObjectKey(object: KubeObject): string {
  return detailKey('object', object.metadata.uid ?? '');
}

const tabLabels: Readonly<Record<NodeTab, string>> = {
  wanted: 'Wanted',
  live: 'Live',
  differences: 'Differences',
  owners: 'Owners',
  events: 'Events',
};

/** The selected object of the tree: what is wanted, what there is, and whose fields they are. */
export function nodeDetail(view: ResourcePageView, node: LiveNode): VNode {
  const { route, store } = view;
  const explained = store.detail<ResourceView>(detailKey('explain', route.resource));
  const changes = (explained.value?.changes ?? []).filter((change) => isOf(change, node));
  const fields = changes.reduce((sum, change) => sum + Math.max(change.fields.length, 1), 0);
  const tab = tabOf(view, node);
  return h(
    'section',
    { class: 'node-detail' },
    h(
      'div',
      { class: 'heading' },
      h(
        'h2',
        null,
        glyph(node.health),
        ` ${titleOf(node)} `,
        h('span', { class: `state ${node.health}` }, node.state),
      ),
      deleteButton(view, node),
    ),
    node.message === '' ? null : h('p', { class: 'message' }, node.message),
    tabs(
      'Views of the object',
      tabsOf(view, node).map((each) => ({
        label: tabLabels[each],
        href: hrefOf({ ...route, node: node.id, detail: each }),
        isCurrent: each === tab,
        ...(each === 'differences' && explained.value !== undefined && { count: fields }),
      })),
    ),
    content(view, node, { tab, changes }),
  );
}

/** Users, not the definition, decide what the resource itself is. */
function tabsOf({ route }: ResourcePageView, node: LiveNode): readonly NodeTab[] {
  const isRoot = node.id === nodeId(route.resource);
  return isRoot ? nodeTabs.filter((tab) => tab !== 'wanted' && tab !== 'differences') : nodeTabs;
}

function tabOf(view: ResourcePageView, node: LiveNode): NodeTab {
  const permitted = tabsOf(view, node);
  return permitted.includes(view.route.detail) ? view.route.detail : 'live';
}

function isOf(change: ChangeView, { ref }: LiveNode): boolean {
  return (
    change.kind === ref.kind &&
    change.name === ref.name &&
    (change.namespace ?? '') === (ref.namespace ?? '')
  );
}

function deleteButton(view: ResourcePageView, node: LiveNode): VNode | null {
  const { object } = node;
  const isRoot = node.id === nodeId(view.route.resource);
  if (!view.info.canEdit || object === undefined || isRoot) return null;
  return button('Delete this object', () =>
    view.actions.ask({
      title: `Delete ${titleOf(node)}?`,
      text: 'If it is wanted, the runtime or its controller creates it again.',
      action: 'Delete',
      run: () => remove(view, object),
    }),
  );
}

interface OpenTab {
  readonly tab: NodeTab;
  readonly changes: readonly ChangeView[];
}

function content(view: ResourcePageView, node: LiveNode, { tab, changes }: OpenTab): Content {
  const { store } = view;
  if (tab === 'differences') return differences(view, changes);
  if (node.object === undefined) return absent(view, node);
  if (tab === 'events') return eventsTable(view, node.object);
  const { value, isLoading, error } = store.detail<KubeObject>(openObjectKey(node.object));
  if (value === undefined)
    return isLoading ? loadingBox('the object') : errorBox('Cannot read the object', error);
  if (tab === 'live') return live(view, value);
  const fields = ownedFields(value);
  return tab === 'owners' ? owners(fields) : wanted(view, node, { fields, changes });
}

function absent({ route, store }: ResourcePageView, node: LiveNode): Content {
  const { value } = store.detail<ResourceView>(detailKey('explain', route.resource));
  const child = value?.children.find(
    ({ kind, name, id }) => kind === node.ref.kind && (name || id) === node.ref.name,
  );
  return [
    emptyBox('The object does not exist', node.message || node.state),
    expressions(child?.expressions ?? []),
  ];
}

/** The object as YAML. Values of Secrets are masked until they are asked for. */
function live({ actions, ui }: ResourcePageView, object: KubeObject): Content {
  const { metadata } = object;
  const { managedFields: _, ...shown } = metadata as KubeObject['metadata'] & {
    managedFields?: unknown;
  };
  const isSecret = object.kind === 'Secret' && object.apiVersion === 'v1';
  const isRevealed = ui.revealed === metadata.uid;
  const yaml = ordered({ ...object, metadata: shown });
  return [
    h(
      'p',
      { class: 'actions' },
      h(CopyButton, { text: `${yamlText(yaml)}\n`, label: 'Copy YAML' }),
      isSecret
        ? [
            isRevealed ? 'The values are shown as they are, base64. ' : 'The values are masked. ',
            button(isRevealed ? 'Mask the values' : 'Show the values', () =>
              actions.set({ revealed: isRevealed ? undefined : metadata.uid }),
            ),
          ]
        : null,
    ),
    yamlView(yaml, `${object.kind} ${metadata.name} as YAML`),
  ];
}

/** As people write it: the status last. */
function ordered({
  apiVersion,
  kind,
  metadata,
  spec,
  status,
  ...others
}: KubeObject & { readonly spec?: unknown; readonly status?: unknown }) {
  return {
    apiVersion,
    kind,
    metadata,
    ...(spec !== undefined && { spec }),
    ...others,
    ...(status !== undefined && { status }),
  };
}

/** Fields that the definition sets, with their values now. */
function wanted(
  { route, store }: ResourcePageView,
  node: LiveNode,
  {
    fields,
    changes,
  }: { readonly fields: readonly OwnedField[]; readonly changes: readonly ChangeView[] },
): Content {
  const explained = store.detail<ResourceView>(detailKey('explain', route.resource)).value;
  const child = explained?.children.find(
    ({ kind, name, namespace }) =>
      kind === node.ref.kind && name === node.ref.name && namespace === (node.ref.namespace ?? ''),
  );
  const manager = `homeostat/${explained?.definition ?? ''}`;
  const own = fields.filter(({ owners: all }) => all.includes(manager));
  if (explained === undefined) return loadingBox('what is wanted');
  const rows = wantedFields(own, { fields, changes });
  if (rows.length === 0)
    return emptyBox(
      'The definition sets no field of this object',
      'A controller of Kubernetes or a user created it: see the tab "Owners".',
    );
  return [wantedTable(rows), expressions(child?.expressions ?? [])];
}

function wantedTable(rows: readonly WantedField[]): VNode {
  return dataTable<WantedField>({
    label: 'Fields that the definition sets',
    rows,
    keyOf: ({ path }) => path,
    columns: [
      { title: 'Field', className: 'path', cell: ({ path }) => code(path) },
      {
        title: 'Wanted',
        className: 'wide value',
        cell: ({ wanted: value }) => shown(value, 'removed'),
      },
      {
        title: '=',
        className: 'compare',
        cell: ({ isDifferent }) =>
          isDifferent
            ? h(
                'span',
                { class: 'state progressing', role: 'img', 'aria-label': 'differs' },
                '\u2260',
              )
            : h('span', { class: 'muted', role: 'img', 'aria-label': 'equal' }, '='),
      },
      {
        title: 'Live',
        className: 'wide value',
        cell: ({ live: value }) => shown(value, 'missing'),
      },
      {
        title: 'Owners',
        className: 'narrow optional',
        cell: ({ owners: names }) => names.join(', '),
      },
    ],
  });
}

function shown(value: string | undefined, absent: string): Content {
  return value === undefined ? muted(absent) : code(value);
}

function owners(fields: readonly OwnedField[]): Content {
  return fields.length === 0
    ? emptyBox(
        'No field has an owner',
        'The API server records owners of fields since the last write.',
      )
    : fieldTable('Owners of fields', fields);
}

function fieldTable(label: string, fields: readonly OwnedField[]): VNode {
  return dataTable<OwnedField>({
    label,
    rows: fields,
    keyOf: ({ path }) => path,
    columns: [
      { title: 'Field', className: 'path', cell: ({ path }) => code(path) },
      {
        title: 'Value',
        className: 'wide value',
        cell: ({ value }) => (value === undefined ? muted('missing') : code(value)),
      },
      {
        title: 'Owners',
        className: 'narrow optional',
        cell: ({ owners: names }) => names.join(', '),
      },
    ],
  });
}

function differences({ route, store }: ResourcePageView, changes: readonly ChangeView[]): Content {
  const { value, isLoading, error } = store.detail<ResourceView>(
    detailKey('explain', route.resource),
  );
  if (value === undefined)
    return isLoading ? loadingBox('the differences') : errorBox('Cannot compare', error);
  if (!value.isReconciled)
    return emptyBox(
      'Not compared',
      'The resource is paused or being deleted: it is not reconciled.',
    );
  if (changes.length === 0)
    return h(
      'p',
      null,
      stateText('ready', 'The object is as wanted: the next reconcile changes nothing.'),
    );
  return changesView(changes, 'What the next reconcile changes');
}

/** The expressions of a child, with what they read. */
function expressions(rows: ResourceView['children'][number]['expressions']): Content {
  if (rows.length === 0) return null;
  return [
    h('h3', null, 'Expressions'),
    dataTable({
      label: 'Expressions',
      rows,
      keyOf: ({ field, line, text }) => `${field} ${line} ${text}`,
      columns: [
        { title: 'Line', className: 'number', cell: ({ line }) => String(line) },
        { title: 'Field', className: 'path', cell: ({ field }) => code(field) },
        { title: 'Expression', className: 'wide value', cell: ({ text }) => code(text) },
        {
          title: 'Reads',
          className: 'wide value optional',
          cell: ({ reads }) => reads.map(({ name, value }) => `${name} ${value}`).join(', '),
        },
      ],
    }),
  ];
}
