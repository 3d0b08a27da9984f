import { matches } from '../model/format.ts';
import { Modal } from '../pages/dialogs.ts';
import { CopyButton } from '../parts/copy-button.ts';
import { button, code, errorBox, loadingBox, muted } from '../parts/elements.ts';
import { Component, h, type VNode } from '../preact.ts';
import type { Example, Workbench, WorkbenchFile } from './workbench.ts';

interface Props {
  readonly workbench: Workbench;
  readonly onClose: () => void;
}

interface GalleryState {
  readonly examples: readonly Example[] | undefined;
  readonly error: unknown;
  readonly search: string;
}

const groups: readonly (readonly [Example['group'], string])[] = [
  ['operators', 'Operators'],
  ['recipes', 'Recipes'],
];

/** The examples; one of them is opened. */
export class GalleryDialog extends Component<Props, GalleryState> {
  override state: GalleryState = { examples: undefined, error: undefined, search: '' };

  override componentDidMount(): void {
    this.props.workbench.examples().then(
      (examples) => this.setState({ examples }),
      (error: unknown) => this.setState({ error }),
    );
  }

  override render({ onClose }: Props, { examples, error, search }: GalleryState): VNode {
    return h(Modal, { title: 'Examples', onClose, className: 'wide' }, [
      h('input', {
        type: 'search',
        'aria-label': 'Search examples',
        placeholder: 'search',
        value: search,
        onInput: (event: Event) =>
          this.setState({ search: (event.target as HTMLInputElement).value }),
      }),
      error !== undefined
        ? errorBox('The examples cannot be loaded', error, 'Load the page again.')
        : examples === undefined
          ? loadingBox('the examples')
          : h('div', { class: 'gallery' }, this.#lists(examples)),
      h('div', { class: 'actions' }, button('Close', onClose)),
    ]);
  }

  #lists(examples: readonly Example[]): readonly (VNode | null)[] {
    return groups.map(([group, title]) => {
      const found = examples.filter(
        (each) => each.group === group && matches(this.state.search, [each.name, each.title]),
      );
      if (found.length === 0) return null;
      return h(
        'section',
        { key: group },
        h('h3', null, title),
        h(
          'ul',
          null,
          found.map((example) =>
            h(
              'li',
              { key: example.name },
              button(
                [h('span', { class: 'strong' }, example.name), ' ', muted(example.title)],
                () => {
                  this.props.workbench.open(example);
                  this.props.onClose();
                },
              ),
            ),
          ),
        ),
      );
    });
  }
}

interface ShareState {
  readonly link: string | undefined;
  readonly error: unknown;
}

/** The link with the files as they are edited. */
export class ShareDialog extends Component<Props, ShareState> {
  override state: ShareState = { link: undefined, error: undefined };

  override componentDidMount(): void {
    this.props.workbench.shareLink().then(
      (link) => this.setState({ link }),
      (error: unknown) => this.setState({ error }),
    );
  }

  override render({ onClose }: Props, { link, error }: ShareState): VNode {
    return h(Modal, { title: 'Share', onClose }, [
      h(
        'p',
        null,
        'This link contains the files. They stay in the part of the address that browsers do not send to a server.',
      ),
      error !== undefined
        ? errorBox('There is no link', error)
        : link === undefined
          ? loadingBox('the link')
          : [
              h('input', {
                type: 'text',
                class: 'link',
                readOnly: true,
                'aria-label': 'Link',
                value: link,
                onFocus: (event: Event) => (event.target as HTMLInputElement).select(),
              }),
              h(
                'div',
                { class: 'actions' },
                h(CopyButton, { text: link, isPrimary: true }),
                muted(`${link.length} characters`),
              ),
            ],
      h('div', { class: 'actions' }, button('Close', onClose)),
    ]);
  }
}

/** The command that runs the files outside of the browser. */
export function devDialog({ files, title }: Workbench['state'], onClose: () => void): VNode {
  const folder = /^[a-z0-9-]+$/.test(title) ? title : 'playground';
  return h(Modal, { title: 'Open in dev', onClose }, [
    h(
      'p',
      null,
      'Save the files in a folder, and run the command: it reloads each file that you save.',
    ),
    h('pre', { class: 'command', tabIndex: 0 }, `homeostat dev ${folder}`),
    h(
      'ul',
      { class: 'downloads' },
      files.map((file) =>
        h(
          'li',
          { key: file.file },
          code(`${folder}/${file.file}`),
          button('Download', () => download(file)),
          h(CopyButton, { text: file.text }),
        ),
      ),
    ),
    h('div', { class: 'actions' }, button('Close', onClose)),
  ]);
}

/** Within this time, a browser has saved a file. */
const downloadMs = 60_000;

function download({ file, text }: WorkbenchFile): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/yaml' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = file.slice(file.lastIndexOf('/') + 1);
  link.click();
  // Some browsers read it a moment later.
  setTimeout(() => URL.revokeObjectURL(url), downloadMs);
}
