import type { DiagnosticView } from '../contract.ts';
import { yamlLines } from '../model/yaml-lines.ts';
import { h, type VNode } from '../preact.ts';
import { glyph } from './elements.ts';

/** A value as YAML, for reading. */
export function yamlView(value: unknown, label: string): VNode {
  return h(
    'pre',
    { class: 'yaml', tabIndex: 0, 'aria-label': label, role: 'region' },
    yamlLines(value).map(({ indent, dash, key, value: text }, index) =>
      h(
        'span',
        { class: 'line', key: index },
        ' '.repeat(indent) + (dash ? '- ' : ''),
        key === '' ? null : h('span', { class: 'key' }, key),
        key !== '' && text !== '' ? ' ' : '',
        valueView(text),
        '\n',
      ),
    ),
  );
}

/** A source with line numbers, and diagnostics below the lines that they are about. */
export function sourceView(
  text: string,
  diagnostics: readonly DiagnosticView[],
  label: string,
): VNode {
  const byLine = Map.groupBy(diagnostics, ({ line }) => line);
  return h(
    'div',
    { class: 'source', tabIndex: 0, 'aria-label': label, role: 'region' },
    text
      .replace(/\n$/, '')
      .split('\n')
      .map((line, index) => {
        const found = byLine.get(index + 1) ?? [];
        return h(
          'div',
          {
            key: index,
            class: found.length > 0 ? `row ${worst(found)}` : 'row',
            id: `line-${index + 1}`,
          },
          h('span', { class: 'number', 'aria-hidden': true }, String(index + 1)),
          h('span', { class: 'text' }, sourceLine(line)),
          found.map(diagnosticView),
        );
      }),
  );
}

/** A diagnostic with its hint. */
export function diagnosticView({ severity, message, hint, column }: DiagnosticView): VNode {
  return h(
    'p',
    { class: `diagnostic ${severity}` },
    glyph(severity === 'error' ? 'failing' : 'progressing'),
    ` column ${column}: ${message}`,
    hint === undefined ? null : h('span', { class: 'muted' }, ` ${hint}`),
  );
}

function worst(diagnostics: readonly DiagnosticView[]): string {
  return diagnostics.some(({ severity }) => severity === 'error') ? 'error' : 'warning';
}

function sourceLine(line: string): readonly (string | VNode)[] {
  const comment = /^(\s*)(#.*)$/.exec(line);
  if (comment !== null)
    return [comment[1] ?? '', h('span', { class: 'comment' }, comment[2] ?? '')];
  const [, indent = '', key = '', rest = ''] =
    /^(\s*(?:- )*)((?:[\w./$-]+|"[^"]*"):(?=\s|$))?(.*)$/.exec(line) ?? [];
  return [indent, key === '' ? '' : h('span', { class: 'key' }, key), ...[valueView(rest)].flat()];
}

/** Expressions are marked. */
function valueView(text: string): (string | VNode)[] {
  return text
    .split(/(\$\{.*?\}(?=["'\s,}\]]|$)|\{\{.*?\}\})/)
    .map((part, index) =>
      index % 2 === 1 ? h('span', { class: 'expression', key: index }, part) : part,
    );
}
