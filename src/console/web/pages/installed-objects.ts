import { isJsonObject, type JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { childHealth, messageText, textOf } from '../model/object-summary.ts';
import { dataTable } from '../parts/data-table.ts';
import { type Content, section, stateText } from '../parts/elements.ts';
import { h } from '../preact.ts';

/** The objects of a definition itself and its policies, as its status has them. Nothing: it has none. */
export function installedObjects({ status }: KubeObject): Content {
  const own = isJsonObject(status) ? [status.install, status.admission] : [];
  const rows = own.flatMap((each) =>
    isJsonObject(each) && Array.isArray(each.children) ? each.children.filter(isJsonObject) : [],
  );
  if (rows.length === 0) return null;
  return section(
    'Objects of the definition',
    dataTable<JsonObject>({
      label: 'Objects of the definition',
      rows,
      keyOf: ({ kind, namespace, name, id }) =>
        [id, kind, namespace, name].map((part) => textOf(part)).join(' '),
      columns: [
        {
          title: 'State',
          className: 'narrow',
          cell: ({ state }) => stateText(childHealth(textOf(state)), textOf(state)),
        },
        {
          title: 'Object',
          className: 'path',
          cell: ({ kind, name, id }) => [
            h('span', { class: 'kind' }, textOf(kind)),
            ' ',
            textOf(name) === '' ? textOf(id) : textOf(name),
          ],
        },
        {
          title: 'Namespace',
          className: 'narrow optional',
          cell: ({ namespace }) => textOf(namespace),
        },
        { title: 'Message', className: 'wide', cell: ({ message }) => messageText(message) },
      ],
    }),
  );
}
