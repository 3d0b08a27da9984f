/** A node of a tree to place. */
interface Branch<Node> {
  readonly children: readonly Node[];
}

export interface PlacedBranch<Node> {
  readonly node: Node;
  readonly parent: Node | undefined;
  /** Upper left corner, in px. */
  readonly x: number;
  readonly y: number;
}

export interface TreeLayout<Node> {
  readonly nodes: readonly PlacedBranch<Node>[];
  readonly width: number;
  readonly height: number;
}

export interface TreeSizes {
  readonly nodeWidth: number;
  readonly nodeHeight: number;
  readonly columnGap: number;
  readonly rowGap: number;
}

/** A parent of many children is at most so many rows below the first: it is in sight when the page opens. */
const mostRowsBelow = 5;

/** Places a tree from left to right: a column for each depth, a parent beside the middle of its children. Linear in the number of nodes. */
export function placeTree<Node extends Branch<Node>>(
  root: Node,
  sizes: TreeSizes,
): TreeLayout<Node> {
  const { nodeWidth, nodeHeight, columnGap, rowGap } = sizes;
  const nodes: PlacedBranch<Node>[] = [];
  let nextY = 0;
  let depth = 0;
  const place = (node: Node, parent: Node | undefined, column: number): number => {
    depth = Math.max(depth, column);
    const at = nodes.push({ node, parent, x: 0, y: 0 }) - 1;
    const rows = node.children.map((child) => place(child, node, column + 1));
    const [first = nextY] = rows;
    const middle = (first + (rows.at(-1) ?? first)) / 2;
    const y = Math.min(middle, first + mostRowsBelow * (nodeHeight + rowGap));
    if (rows.length === 0) nextY += nodeHeight + rowGap;
    nodes[at] = { node, parent, x: column * (nodeWidth + columnGap), y };
    return y;
  };
  place(root, undefined, 0);
  return {
    nodes,
    width: (depth + 1) * nodeWidth + depth * columnGap,
    height: Math.max(nextY - rowGap, nodeHeight),
  };
}
