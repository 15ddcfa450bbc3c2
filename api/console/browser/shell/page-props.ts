/** What a page gets: the parts of its place behind its name. */
export type PageProps = { readonly path: readonly string[] };
