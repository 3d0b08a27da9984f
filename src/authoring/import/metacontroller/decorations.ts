import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import type { ImportReport } from '../import-report.ts';
import { Explainer } from './explain.ts';
import type { HookAnswer } from './hook-answers.ts';
import { parentScope } from './recorded-children.ts';

/** Labels and annotations that a decorator sets, and the time of the next call. */
export function decorations(
  answers: readonly HookAnswer[],
  report: ImportReport,
): { readonly fields: JsonObject; readonly unexplained: readonly string[] } {
  const explained = (['labels', 'annotations'] as const).map((field) =>
    decoration(field, answers, report),
  );
  const metadata = Object.fromEntries(
    explained.flatMap(({ field, value }) => (value === undefined ? [] : [[field, value] as const])),
  );
  const requeueAfter = resync(answers, report);
  return {
    fields: {
      ...(Object.keys(metadata).length > 0 && {
        patches: [{ id: 'decoration', patch: { metadata } }],
      }),
      ...(requeueAfter !== undefined && { requeueAfter }),
    },
    unexplained: explained.flatMap(({ unexplained }) => unexplained),
  };
}

function placeOf(field: string, { pointer }: HookAnswer) {
  return { name: field, pointer: `${pointer}/${field}`, isKey: true };
}

interface Decoration {
  readonly field: string;
  readonly value?: Json;
  readonly unexplained: readonly string[];
}

/** The labels or annotations of all answers as one template. */
function decoration(
  field: 'labels' | 'annotations',
  answers: readonly HookAnswer[],
  report: ImportReport,
): Decoration {
  const maps = answers.map((answer) => {
    const map = answer.response[field];
    return { answer, map: isJsonObject(map) ? map : {} };
  });
  const first = maps.find(({ map }) => Object.keys(map).length > 0)?.answer;
  if (first === undefined) return { field, unexplained: [] };
  const own = report.in(first.document.source);
  const explainer = new Explainer();
  const value = explainer.explain(
    maps.map(({ answer, map }) => ({
      scope: parentScope(answer.parent),
      value: Object.fromEntries(Object.entries(map).filter(([, each]) => each !== null)),
    })),
    [field],
  );
  const used = [...explainer.used].sort();
  if (maps.some(({ map }) => Object.values(map).includes(null)))
    own.leftOut(placeOf(field, first), 'A patch does not remove keys of others');
  else
    own.converted(placeOf(field, first), [
      used.length === 0
        ? 'as recorded: its values are literal'
        : `as recorded: read from ${used.join(', ')}; other values are literal`,
    ]);
  for (const path of new Set(explainer.unexplained))
    own.leftOut(
      { ...placeOf(field, first), name: path },
      'The answers differ, and no field of the parent shows why',
      'Write the expression into patch "decoration"',
    );
  const isEmpty = !isJsonObject(value) || Object.keys(value).length === 0;
  return { field, ...(!isEmpty && { value }), unexplained: explainer.unexplained };
}

/** The time of the next call, if it is the same for all answers or stands in their parents. */
function resync(answers: readonly HookAnswer[], report: ImportReport): string | undefined {
  const observations = answers.map(({ response, parent }) => {
    const { resyncAfterSeconds: value } = response;
    return {
      scope: parentScope(parent),
      value: typeof value === 'number' && value > 0 ? value : undefined,
    };
  });
  const first = answers[observations.findIndex(({ value }) => value !== undefined)];
  if (first === undefined) return undefined;
  const own = report.in(first.document.source);
  const place = placeOf('resyncAfterSeconds', first);
  const explainer = new Explainer();
  const expression = explainer.expression(observations, ['resyncAfterSeconds']);
  if (expression !== undefined) {
    own.converted(place, [`after every reconcile: read from ${expression}`]);
    return `\${? ${expression} & "s" }`;
  }
  const [value] = new Set(observations.map((each) => each.value));
  if (observations.some((each) => each.value !== value)) {
    own.leftOut(
      place,
      'The answers differ, and no field of the parent shows why',
      'Write the expression into "requeueAfter"',
    );
    return undefined;
  }
  own.converted(place, ['after every reconcile']);
  return `${value}s`;
}
