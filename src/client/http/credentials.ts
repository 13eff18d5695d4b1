/** Adds credentials to a request; called again when the server says 401. */
export interface Credentials {
  /**
   * Sets headers of one request. What it throws is what the request rejects with.
   *
   * @param headers The request's headers, to be changed in place.
   * @param options `refresh` is true when the server has just refused what was set before: what was remembered is stale.
   */
  apply(headers: Headers, options: { readonly refresh: boolean; readonly signal?: AbortSignal }): void | Promise<void>;
}
