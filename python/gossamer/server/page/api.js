/** The server's HTTP API, as much of it as this page needs. */

/** @typedef {import("./query.js").Query} Query */

/**
 * @typedef {object} Hit
 * @property {number} id
 * @property {string} location path:line of the line that answers best, or path and page
 * @property {string} path
 * @property {string} kind
 * @property {string} title
 * @property {number} start bytes of the document's text before the chunk
 * @property {number} score
 * @property {number | null} distance
 * @property {Record<string, number>} ranks
 * @property {string} snippet
 * @property {[number, number][]} highlights code points of the snippet
 */

/**
 * @typedef {object} Results
 * @property {string} mode
 * @property {number} took_ms
 * @property {Hit[]} hits
 * @property {string[]} stale
 * @property {string[]} notes
 * @property {Record<string, unknown>} explanation
 */

/**
 * @typedef {object} Context
 * @property {string} before
 * @property {string} text
 * @property {string} after
 */

/**
 * @typedef {object} Status
 * @property {string} name
 * @property {string} folder
 * @property {string} model
 * @property {number} generation
 * @property {string} changed
 * @property {string[]} roots
 * @property {number} indexed
 * @property {number} skipped
 * @property {number} failed
 * @property {Record<string, number>} reasons
 * @property {Record<string, number>} kinds
 * @property {number} documents
 * @property {number} chunks
 * @property {number} text_bytes
 * @property {Record<string, number>} bytes_by_part
 * @property {number} changed_files
 * @property {number} missing_files
 * @property {Record<string, unknown>} follows of an edge: the server and what is kept of it
 */

/**
 * @typedef {object} Conflict
 * @property {number} number
 * @property {string} id
 * @property {string} at
 * @property {string} note
 * @property {string} lost
 */

const TOKEN = "gossamer-token";

/** The server did not do what was asked. Branch on `reason`, show `message`. */
export class ServerError extends Error {
  /**
   * @param {string} reason as the server says it; "unreachable" if it said nothing
   * @param {string} message
   * @param {boolean} isPassing whether asking again may help
   */
  constructor(reason, message, isPassing) {
    super(message);
    this.name = "ServerError";
    this.reason = reason;
    this.isPassing = isPassing;
  }
}

/** Asks the server, with a token once it wants one. */
export class Api {
  /**
   * @param {(isRefused: boolean) => Promise<string>} askToken gives "" if there is none to be had;
   *   `isRefused` says that the last one was not accepted
   */
  constructor(askToken) {
    this.askToken = askToken;
    /** @type {Promise<string> | null} */
    this.asking = null;
  }

  /**
   * @param {Query} query
   * @param {AbortSignal} signal
   * @returns {Promise<Results>}
   */
  search(query, signal) {
    const types = query.type.split(",").map((type) => type.trim());
    const asked = {
      question: query.question,
      mode: query.mode,
      k: query.k,
      paths: query.path ? [query.path] : [],
      types: types.filter((type) => type !== ""),
      where: query.where || null,
    };
    return this.request("v1/search", { method: "POST", body: JSON.stringify(asked), signal });
  }

  /**
   * @param {number} id
   * @param {number} margin bytes before and after the chunk
   * @returns {Promise<Context>}
   */
  context(id, margin) {
    return this.request(`v1/chunks/${id}/context?margin=${margin}`);
  }

  /** @returns {Promise<Status>} */
  status() {
    return this.request("v1/status");
  }

  /** @returns {Promise<Conflict[]>} */
  async conflicts() {
    return (await this.request("v1/conflicts")).conflicts;
  }

  /**
   * A conflict with the text that was replaced.
   * @param {number} number
   * @returns {Promise<Conflict>}
   */
  conflict(number) {
    return this.request(`v1/conflicts/${number}`);
  }

  /**
   * @param {string} path
   * @param {RequestInit} options
   * @returns {Promise<any>}
   */
  async request(path, options = {}) {
    const used = sessionStorage.getItem(TOKEN) ?? "";
    const response = await send(path, options, used);
    if (response.status === 401) {
      await this.renewToken(used);
      return this.request(path, options);
    }
    const answer = await readAnswer(response);
    if (!response.ok) throw failureOf(response, answer);
    return answer;
  }

  /**
   * Ask for a token in place of one that was refused, once for all requests that wait for it.
   * @param {string} refused
   */
  async renewToken(refused) {
    if ((sessionStorage.getItem(TOKEN) ?? "") !== refused) return; // another request did meanwhile
    this.asking ??= this.askToken(refused !== "").finally(() => (this.asking = null));
    const token = await this.asking;
    if (!token) throw new ServerError("no_token", "This server answers only with its token.", true);
    sessionStorage.setItem(TOKEN, token);
  }
}

/**
 * @param {string} path
 * @param {RequestInit} options
 * @param {string} token
 */
async function send(path, options, token) {
  const headers = new Headers({ Accept: "application/json" });
  if (options.body) headers.set("Content-Type", "application/json");
  if (token) headers.set("Authorization", `Bearer ${token}`);
  try {
    return await fetch(path, { ...options, headers, cache: "no-store" });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new ServerError(
      "unreachable",
      "The server does not answer. It may have been stopped, or the connection is down.",
      true,
    );
  }
}

/**
 * What the server answered; null if it is not JSON, as from a proxy in between.
 * @param {Response} response
 */
async function readAnswer(response) {
  try {
    return await response.json();
  } catch (error) {
    if (error instanceof SyntaxError && !response.ok) return null;
    if (!(error instanceof SyntaxError)) throw error;
    const message = "The server's answer is not JSON; is it a Gossamer server?";
    throw new ServerError("damaged", message, true);
  }
}

/**
 * @param {Response} response
 * @param {{ error?: string, message?: string } | null} answer
 */
function failureOf(response, answer) {
  const message = answer?.message ?? `The server answered ${response.status}.`;
  const isPassing = response.status >= 500 || response.status === 409; // locked by another writer
  return new ServerError(answer?.error ?? "internal", message, isPassing);
}
