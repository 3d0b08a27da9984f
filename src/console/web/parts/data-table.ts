import { Component, createRef, h, type VNode } from '../preact.ts';
import { type Content, titleOfLong } from './elements.ts';

export interface Column<Row> {
  readonly title: string;
  /** Column class: `narrow`, `number`, `wide`, `optional` (not on narrow windows). */
  readonly className?: string;
  readonly cell: (row: Row) => Content;
}

export interface DataTableProps<Row> {
  /** For screen readers. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** Whether the row changed a moment ago. */
  readonly isChanged?: (row: Row) => boolean;
}

interface Scroll {
  readonly first: number;
  readonly last: number;
}

/** Marks what `j` and `k` move between. */
const rowMark = { 'data-row': '' };
const rowHeight = 28;
/** Rows are drawn beyond the window on both sides. */
const overscan = 12;
/** Shorter tables are drawn whole. */
const wholeLimit = 100;

/** A table of rows of equal height. Of a long table only the rows in the window are drawn. */
export class DataTable<Row> extends Component<DataTableProps<Row>, Scroll> {
  override state: Scroll = { first: 0, last: 60 };
  readonly #body = createRef<HTMLTableSectionElement>();
  readonly #onScroll = () => this.#update();

  override componentDidMount(): void {
    addEventListener('scroll', this.#onScroll, { passive: true });
    addEventListener('resize', this.#onScroll, { passive: true });
    this.#update();
  }

  override componentWillUnmount(): void {
    removeEventListener('scroll', this.#onScroll);
    removeEventListener('resize', this.#onScroll);
  }

  override render({ label, columns, rows, keyOf, isChanged }: DataTableProps<Row>): VNode {
    const isWhole = rows.length <= wholeLimit;
    const first = isWhole ? 0 : Math.min(this.state.first, rows.length);
    const last = isWhole ? rows.length : Math.min(this.state.last, rows.length);
    const classOf = ({ className }: Column<Row>) => className ?? '';
    return h(
      'table',
      {
        class: isWhole ? 'data whole' : 'data',
        'aria-label': label,
        'aria-rowcount': rows.length + 1,
      },
      h(
        'thead',
        null,
        h(
          'tr',
          { 'aria-rowindex': 1 },
          columns.map((column) =>
            h('th', { scope: 'col', key: column.title, class: classOf(column) }, column.title),
          ),
        ),
      ),
      h(
        'tbody',
        { ref: this.#body },
        spacer(first, columns.length, 'before'),
        rows.slice(first, last).map((row, index) =>
          h(
            'tr',
            {
              key: keyOf(row),
              ...rowMark,
              'aria-rowindex': first + index + 2,
              class: isChanged?.(row) === true ? 'changed' : '',
            },
            columns.map((column) => {
              const content = column.cell(row);
              const title = typeof content === 'string' ? titleOfLong(content) : {};
              return h('td', { key: column.title, class: classOf(column), ...title }, content);
            }),
          ),
        ),
        spacer(rows.length - last, columns.length, 'after'),
      ),
    );
  }

  #update(): void {
    const top = this.#body.current?.getBoundingClientRect().top ?? 0;
    const first = Math.max(0, Math.floor(-top / rowHeight) - overscan);
    const last = Math.ceil((innerHeight - top) / rowHeight) + overscan;
    if (first !== this.state.first || last !== this.state.last) this.setState({ first, last });
  }
}

/** Takes the place of rows that are not drawn. */
function spacer(rows: number, columns: number, key: string): VNode | null {
  if (rows <= 0) return null;
  return h(
    'tr',
    { key, class: 'spacer', 'aria-hidden': true, style: { height: `${rows * rowHeight}px` } },
    h('td', { colSpan: columns }),
  );
}

/** A table element with inferred rows. */
export function dataTable<Row>(props: DataTableProps<Row>): VNode {
  return h(DataTable<Row>, props);
}
