import { isJsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { errorOfResponse } from '../backend-error.ts';
import type { DiagnosticView, PreviewView } from '../contract.ts';
import { mergePatch } from '../model/merge-patch.ts';
import { placeOf } from '../model/object-summary.ts';
import { yamlText } from '../model/yaml-lines.ts';
import { button, errorBox, muted } from '../parts/elements.ts';
import { LatestAnswer } from '../parts/latest-answer.ts';
import { type FormSchema, schemaForm, specSchema } from '../parts/schema-form.ts';
import { TextEditorView } from '../parts/text-editor.ts';
import { diagnosticView } from '../parts/yaml-view.ts';
import { Component, h, type VNode } from '../preact.ts';
import { objectPath } from '../store/kind-index.ts';
import type { ResourcePageView } from '../view.ts';
import { kindOfRef } from './kinds.ts';
import { previewPanel } from './preview-panel.ts';

/** The editor of a resource: YAML or a form at the left, what the change would do at the right. */
export function editTab(view: ResourcePageView, resource: KubeObject): VNode {
  return h(ResourceEditor, { view, resource, key: resource.metadata.uid ?? '' });
}

interface Props {
  readonly view: ResourcePageView;
  readonly resource: KubeObject;
}

interface State {
  readonly mode: 'form' | 'yaml';
  readonly text: string;
  /** What the text describes. Undefined: it has errors. */
  readonly object: KubeObject | undefined;
  readonly diagnostics: readonly DiagnosticView[];
  readonly preview: PreviewView | undefined;
  readonly error: unknown;
  readonly isAsking: boolean;
  readonly schema: FormSchema | undefined;
}

interface Answer {
  readonly object: KubeObject | undefined;
  readonly diagnostics: readonly DiagnosticView[];
  readonly preview: PreviewView | undefined;
}

/** Time without typing after which the preview is computed. */
const typingMs = 150;

class ResourceEditor extends Component<Props, State> {
  readonly #base: KubeObject;
  readonly #answers: LatestAnswer<string, Answer>;

  constructor(props: Props) {
    super(props);
    this.#base = editable(props.resource);
    this.#answers = new LatestAnswer(
      (text, signal) => this.#ask(text, signal),
      (answer, error) => this.setState({ isAsking: false, error, ...(answer ?? {}) }),
    );
    this.state = {
      mode: 'yaml',
      text: `${yamlText(this.#base)}\n`,
      object: this.#base,
      diagnostics: [],
      preview: undefined,
      error: undefined,
      isAsking: false,
      schema: undefined,
    };
  }

  override componentDidMount(): void {
    this.#answers.ask(this.state.text, 0);
    this.#loadSchema().catch(() => undefined);
  }

  override componentWillUnmount(): void {
    this.#answers.stop();
  }

  override render(
    { view }: Props,
    { mode, text, object, diagnostics, preview, error, isAsking, schema }: State,
  ): VNode {
    const isChanged = object !== undefined && mergePatch(this.#base, object) !== undefined;
    const { info } = view;
    return h(
      'div',
      { class: 'split' },
      h(
        'div',
        null,
        h(
          'div',
          { class: 'actions' },
          schema === undefined
            ? null
            : button(mode === 'form' ? 'Edit as YAML' : 'Edit as form', () =>
                this.setState({ mode: mode === 'form' ? 'yaml' : 'form' }),
              ),
          info.canEdit
            ? button('Save', () => this.#save(), { isPrimary: true, isDisabled: !isChanged })
            : muted('Read-only: nothing can be saved here'),
          button('Reset', () => this.#set(`${yamlText(this.#base)}\n`), {
            isDisabled: !isChanged && diagnostics.length === 0,
          }),
        ),
        mode === 'form' && schema !== undefined && object !== undefined
          ? schemaForm({
              schema,
              value: object.spec,
              diagnostics,
              onChange: (spec) => this.#set(`${yamlText({ ...object, spec })}\n`),
            })
          : h(TextEditorView, {
              text,
              language: 'yaml',
              label: 'The resource as YAML',
              diagnostics,
              onChange: (next) => this.#set(next),
            }),
        // The form shows them at its fields.
        mode === 'form' && object !== undefined
          ? null
          : diagnostics.map((each) =>
              h(
                'div',
                { key: `${each.line} ${each.message}` },
                muted(`line ${each.line},`),
                diagnosticView(each),
              ),
            ),
      ),
      h(
        'div',
        { class: 'result', 'aria-live': 'polite', 'aria-busy': isAsking },
        h('h2', null, 'What would happen'),
        error !== undefined
          ? errorBox('Cannot compute it', error)
          : previewPanel(preview, isAsking),
      ),
    );
  }

  #set(text: string): void {
    this.setState({ text, isAsking: true });
    this.#answers.ask(text, typingMs);
  }

  async #ask(text: string, signal: AbortSignal): Promise<Answer> {
    const { backend } = this.props.view;
    const { object, diagnostics } = await backend.parse(text, signal);
    if (object === undefined) return { object, diagnostics, preview: undefined };
    const preview = await backend.preview({ kind: 'resource', text }, signal);
    return { object, diagnostics: [...diagnostics, ...preview.diagnostics], preview };
  }

  #save(): void {
    const { view, resource } = this.props;
    const { object } = this.state;
    const kind = view.store.kindOf(kindOfRef({ ...resource, ...resource.metadata }));
    const patch = mergePatch(this.#base, object);
    if (kind === undefined || !isJsonObject(patch)) return;
    const { resourceVersion = '' } = resource.metadata;
    const metadata = isJsonObject(patch.metadata) ? patch.metadata : {};
    const body = { ...patch, metadata: { ...metadata, resourceVersion } };
    view.actions.run(async () => {
      const response = await view.backend.request(
        { method: 'PATCH', path: objectPath(kind, resource.metadata), body },
        new AbortController().signal,
      );
      const error = errorOfResponse(response);
      if (error !== undefined) throw error;
      view.actions.go({ ...view.route, tab: 'tree' });
      return `${resource.kind} "${placeOf(resource.metadata)}" is saved`;
    });
  }

  async #loadSchema(): Promise<void> {
    const { view, resource } = this.props;
    const kind = view.store.kindOf(kindOfRef({ ...resource, ...resource.metadata }));
    if (kind === undefined || kind.gvk.group === '') return;
    const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${kind.plural}.${kind.gvk.group}`;
    const { body, status } = await view.backend.request(
      { method: 'GET', path },
      new AbortController().signal,
    );
    if (status !== 200) return;
    const schema = specSchema(body, kind.gvk.version);
    if (schema !== undefined) this.setState({ schema, mode: 'form' });
  }
}

/** What a user may change: without status and metadata of the server. */
function editable(object: KubeObject): KubeObject {
  const {
    apiVersion,
    kind,
    metadata,
    status: _,
    ...content
  } = object as KubeObject & { status?: unknown };
  const { name, namespace, labels, annotations } = metadata;
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      ...(labels !== undefined && { labels }),
      ...(annotations !== undefined && { annotations }),
    },
    ...content,
  };
}
