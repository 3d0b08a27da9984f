import { isJsonObject, type Json, type JsonObject, pointerTo } from '#util/json.ts';
import type { ImportReport } from '../import-report.ts';
import type { SourceDocument } from '../importer.ts';

const sourceFiles = /\.(?:py|js|ts|jsonnet|libsonnet|go|rb|sh)$/;

/** Documents that only the webhook needs: its Deployment and Service, and ConfigMaps with its source. */
export function hookParts(
  hooks: Json | undefined,
  documents: readonly SourceDocument[],
): readonly SourceDocument[] {
  const hosts = hostsOf(hooks);
  return documents.filter(({ value }) => {
    const { kind, metadata } = value;
    const name = isJsonObject(metadata) ? String(metadata.name) : '';
    if (kind === 'ConfigMap') return sourcesIn(value).length > 0;
    return ['Deployment', 'Service'].includes(String(kind)) && hosts.has(name);
  });
}

/** The names of Services in the URLs. */
function hostsOf(hooks: Json | undefined): ReadonlySet<string> {
  const webhooks = Object.values(isJsonObject(hooks) ? hooks : {}).flatMap((hook) =>
    isJsonObject(hook) && isJsonObject(hook.webhook) ? [hook.webhook] : [],
  );
  return new Set(
    webhooks.map(({ url, service }) => {
      if (isJsonObject(service)) return String(service.name);
      return /^https?:\/\/([^./:]+)/.exec(String(url))?.[1] ?? '';
    }),
  );
}

function sourcesIn({ data }: JsonObject): readonly string[] {
  return isJsonObject(data) ? Object.keys(data).filter((key) => sourceFiles.test(key)) : [];
}

interface HookContext {
  readonly documents: readonly SourceDocument[];
  readonly report: ImportReport;
  /** There are answers of the sync hook. */
  readonly isRecorded: boolean;
  /** There are answers of the customize hook. */
  readonly hasReads: boolean;
}

/** Reports each hook, and each file with source. */
export function reportHookSources(hooks: Json | undefined, context: HookContext): void {
  const { documents, report, isRecorded, hasReads } = context;
  for (const [hook, value] of Object.entries(isJsonObject(hooks) ? hooks : {})) {
    if (value === null) continue;
    const place = { name: `hooks.${hook}`, pointer: `/spec/hooks/${hook}`, isKey: true };
    if (hook === 'sync' && isRecorded) report.converted(place, ['what the recorded answers show']);
    else if (hook === 'customize' && hasReads)
      report.converted(place, ['what the recorded answers show']);
    else report.leftOut(place, `The hook "${hook}" is a program`, hints[hook]);
  }
  for (const { value, source } of hookParts(hooks, documents)) {
    const own = report.in(source);
    const name = `${String(value.kind)}/${isJsonObject(value.metadata) ? String(value.metadata.name) : ''}`;
    if (value.kind !== 'ConfigMap')
      own.converted({ name, pointer: '/kind', isKey: true }, ['not needed any more']);
    for (const key of sourcesIn(value)) {
      const place = { name: `${name}.${key}`, pointer: pointerTo('/data', key), isKey: true };
      if (isRecorded) own.converted(place, ['replaced by what the recorded answers show']);
      else
        own.leftOut(
          place,
          'A program is not converted',
          'Write what it returns into the templates',
        );
    }
  }
}

const hints: Readonly<Record<string, string | undefined>> = {
  sync: 'Write the templates, or record its answers with "--sync-response"',
  finalize: 'Write what it creates before the deletion as "onDelete.children"',
  customize: 'Write its related resources as "reads", or record its answer with "--sync-response"',
};
