// Writes deploy/grafana/homeostat.json, a dashboard to import, from scripts/dashboard/panels.ts.
// With --check it only compares, and fails when the file is not up to date.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { metricCatalogue } from '#telemetry/roles.ts';
import { type Panel, type Row, rows } from './dashboard/panels.ts';

const file = fileURLToPath(new URL('../deploy/grafana/homeostat.json', import.meta.url));
const datasource = { type: 'prometheus', uid: '${datasource}' };
const columns = 3;
const width = 24 / columns;
const height = 8;

const text = `${inHouseFormat(JSON.stringify(dashboard(), null, 2))}\n`;
if (!process.argv.includes('--check')) {
  writeFileSync(file, text);
} else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
  process.stderr.write(`${file} is not up to date: run scripts/generate-dashboard.ts\n`);
  process.exitCode = 1;
}

function dashboard() {
  const { definitionState, buildInfo } = metricCatalogue;
  return {
    uid: 'homeostat',
    title: 'Homeostat',
    tags: ['homeostat', 'operator', 'kubernetes'],
    schemaVersion: 39,
    editable: true,
    graphTooltip: 1,
    refresh: '30s',
    time: { from: 'now-1h', to: 'now' },
    templating: {
      list: [
        { name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus' },
        variable('job', `label_values(${buildInfo.name}, job)`),
        variable('definition', `label_values(${definitionState.name}, definition)`),
      ],
    },
    panels: layOut(rows),
  };
}

/** Lists of texts on one line, as the formatter has them. */
function inHouseFormat(json: string): string {
  return json.replace(/\[\s+("[^"]*"(?:,\s+"[^"]*")*)\s+\]/g, (_, items: string) => {
    return `[${items.replace(/\s+/g, ' ')}]`;
  });
}

function variable(name: string, query: string) {
  return {
    name,
    label: `${name.charAt(0).toUpperCase()}${name.slice(1)}`,
    type: 'query',
    datasource,
    query: { query, refId: name },
    refresh: 2,
    multi: true,
    includeAll: true,
    allValue: '.*',
    current: { text: 'All', value: '$__all' },
  };
}

function layOut(all: readonly Row[]) {
  const panels: unknown[] = [];
  let y = 0;
  for (const row of all) {
    panels.push({ ...rowPanel(row.title, y), id: panels.length + 1 });
    y += 1;
    for (const [index, panel] of row.panels.entries()) {
      const x = (index % columns) * width;
      const gridPos = { x, y: y + Math.floor(index / columns) * height, w: width, h: height };
      panels.push({ ...panelOf(panel), gridPos, id: panels.length + 1 });
    }
    y += Math.ceil(row.panels.length / columns) * height;
  }
  return panels;
}

function rowPanel(title: string, y: number) {
  return { type: 'row', title, collapsed: false, gridPos: { x: 0, y, w: 24, h: 1 }, panels: [] };
}

function panelOf({ title, description, kind = 'timeseries', unit = 'short', queries }: Panel) {
  return {
    type: kind,
    title,
    ...(description === undefined ? {} : { description }),
    datasource,
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    options:
      kind === 'stat'
        ? { reduceOptions: { calcs: ['lastNotNull'] }, textMode: 'value_and_name' }
        : { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi' } },
    targets: queries.map(([expr, legendFormat], index) => ({
      refId: String.fromCharCode(65 + index),
      datasource,
      expr,
      legendFormat,
    })),
  };
}
