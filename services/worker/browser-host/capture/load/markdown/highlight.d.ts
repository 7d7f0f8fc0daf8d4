/** The part of highlight.js in use. Its own types include the DOM's, under which Buffer is not a valid request body. */
declare const highlighter: {
  readonly getLanguage: (name: string) => unknown
  readonly highlight: (
    code: string,
    options: { readonly language: string; readonly ignoreIllegals: boolean },
  ) => { readonly value: string }
}
export default highlighter
