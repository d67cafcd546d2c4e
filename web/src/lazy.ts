import { GossamerError } from "./errors.ts";

/** A part of the package that is fetched when it is first needed; Unreachable if it does not come. */
export async function loadPart<Part>(loading: Promise<Part>): Promise<Part> {
  try {
    return await loading;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const how = "go online and serve all its files beside worker.js, or reload the page if they were replaced";
    throw new GossamerError("Unreachable", `a part of gossamer-web could not be loaded (${why}); ${how}`);
  }
}
