import { isJsonObject, type JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { textOf } from '../model/object-summary.ts';
import { dataTable } from '../parts/data-table.ts';
import { type Content, section, stateText } from '../parts/elements.ts';
import { h } from '../preact.ts';

/** The versions of a kind between which resources are converted, as the status of its definition has them. Nothing: it has none. */
export function versionsTable({ status }: KubeObject): Content {
  const { versions, migration } = isJsonObject(status) ? status : {};
  const rows = (Array.isArray(versions) ? versions : []).filter(isJsonObject);
  if (rows.length === 0) return null;
  return section(
    'Versions of the kind',
    isJsonObject(migration) ? progressOf(migration) : null,
    dataTable<JsonObject>({
      label: 'Versions of the kind',
      rows,
      keyOf: ({ name }) => textOf(name),
      columns: [
        { title: 'Version', cell: ({ name }) => h('span', { class: 'strong' }, textOf(name)) },
        { title: 'Served', className: 'narrow', cell: ({ served }) => yesOrNo(served) },
        { title: 'Resources', className: 'words', cell: storageText },
        { title: 'Conversions', className: 'words', cell: conversionState },
      ],
    }),
  );
}

function progressOf({ version, written, total }: JsonObject): Content {
  const [done, all] = [Number(written), Number(total)];
  return h(
    'p',
    null,
    h('progress', { value: done, max: Math.max(all, 1), 'aria-label': 'Migration' }),
    ` ${done} of ${all} resources are stored in ${textOf(version)}`,
  );
}

function yesOrNo(value: unknown): string {
  return value === true ? 'yes' : 'no';
}

function storageText({ storage, stored }: JsonObject): string {
  if (storage === true) return 'are written in it';
  return stored === true ? 'may still be stored in it' : 'none is stored in it';
}

function conversionState({ served, proven }: JsonObject): Content {
  if (proven === true) return stateText('ready', 'succeed');
  return served === true
    ? stateText('progressing', 'are tried')
    : stateText('unknown', 'not tried');
}
