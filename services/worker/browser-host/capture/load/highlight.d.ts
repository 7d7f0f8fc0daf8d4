/** What is used of highlight.js. Its own types refer to those of the DOM, with which Buffer is no body of a request. */
declare const highlighter: {
  readonly getLanguage: (name: string) => unknown
  readonly highlight: (
    code: string,
    options: { readonly language: string; readonly ignoreIllegals: boolean },
  ) => { readonly value: string }
}
export default highlighter
