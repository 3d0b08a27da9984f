import type { EvaluationView } from '../contract.ts';
import { button, type Content, code, emptyBox, errorBox, glyph, muted } from '../parts/elements.ts';
import { LatestAnswer } from '../parts/latest-answer.ts';
import { TextEditorView } from '../parts/text-editor.ts';
import { Component, h, type VNode } from '../preact.ts';
import type { ResourcePageView } from '../view.ts';

/** An expression over the resource, evaluated while it is typed. */
export function expressionsTab(view: ResourcePageView): VNode {
  return h(ExpressionEditor, { view });
}

interface Props {
  readonly view: ResourcePageView;
}

interface State {
  readonly expression: string;
  readonly result: EvaluationView | undefined;
  readonly error: unknown;
}

const typingMs = 150;
const examples: readonly (readonly [string, string])[] = [
  ['spec', 'a field of the resource'],
  ['metadata.name & "-db"', 'texts are joined by &'],
  ['spec.replicas > 1 ? "many" : "one"', 'a condition'],
  ['$keys(spec)', 'names of the fields of an object'],
  ['$map([1..3], function($n) { metadata.name & "-" & $n })', 'a list from a list'],
  ['$string(spec)', 'JSON of a value'],
  ['$uppercase(metadata.namespace)', 'functions of texts'],
  ['$sum([1, 2, 3])', 'functions of numbers'],
];

class ExpressionEditor extends Component<Props, State> {
  override state: State = { expression: 'spec', result: undefined, error: undefined };
  readonly #answers = new LatestAnswer<string, EvaluationView>(
    (expression, signal) => {
      const { backend, route } = this.props.view;
      return backend.evaluate({ resource: route.resource, expression }, signal);
    },
    (result, error) => this.setState({ result, error }),
  );

  override componentDidMount(): void {
    this.#answers.ask(this.state.expression, 0);
  }

  override componentWillUnmount(): void {
    this.#answers.stop();
  }

  override render(_: Props, { expression, result, error }: State): VNode {
    return h(
      'div',
      { class: 'split' },
      h(
        'div',
        null,
        h('h2', null, 'Expression'),
        h(TextEditorView, {
          text: expression,
          language: 'plain',
          label: 'Expression',
          onChange: (next) => this.#set(next),
        }),
        h('h3', null, 'Examples'),
        h(
          'ul',
          { class: 'examples' },
          examples.map(([text, about]) =>
            h(
              'li',
              { key: text },
              button(code(text), () => this.#set(text)),
              ' ',
              muted(about),
            ),
          ),
        ),
        h(
          'p',
          { class: 'muted' },
          'Names: metadata, spec, status, children.ID, observed.ID, reads.ID, vars.NAME. The language is JSONata.',
        ),
      ),
      h(
        'div',
        { class: 'result', 'aria-live': 'polite' },
        h('h2', null, 'Result'),
        error === undefined ? resultView(result) : errorBox('Cannot evaluate', error),
      ),
    );
  }

  #set(expression: string): void {
    this.setState({ expression });
    this.#answers.ask(expression, typingMs);
  }
}

/** The value of an expression, what it reads and what it waits for. */
export function resultView(result: EvaluationView | undefined): Content {
  if (result === undefined) return emptyBox('Evaluating \u2026');
  return [outcome(result), readsView(result)];
}

function outcome(result: EvaluationView): Content {
  switch (result.kind) {
    case 'value':
      return [
        h('p', { class: 'muted' }, `Type: ${result.type}`),
        h('pre', { class: 'yaml', tabIndex: 0 }, result.json),
      ];
    case 'missing':
      return h('p', null, glyph('unknown'), ' The value is missing.');
    case 'waiting':
      return h('p', null, glyph('progressing'), ` Waits for ${result.on.join(', ')}.`);
    default:
      return h('p', { class: 'message' }, glyph('failing'), ` ${result.message}`);
  }
}

function readsView({ reads }: EvaluationView): Content {
  if (reads.length === 0) return h('p', { class: 'muted' }, 'It reads nothing of the cluster.');
  return [
    h('h3', null, 'Reads'),
    h(
      'ul',
      { class: 'reads' },
      reads.map(({ name, value }) => h('li', { key: name }, code(name), ' ', muted(value))),
    ),
  ];
}
