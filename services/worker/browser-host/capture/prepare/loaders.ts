import type { OpenPage } from '#worker/browser-host/capture/page/open-page.ts'
import { awaitUnchanged, pause } from '#worker/browser-host/capture/page/page-frames.ts'
import { runInLatestDocument } from '#worker/browser-host/capture/page/world.ts'

/** Longest wait for a loader to go, and poll interval. */
const loaderMs = 2000
const pollMs = 50

/** An element with more text is no loader, and a page with more is not one either. */
const loaderCharactersMax = 100
const pageCharactersMax = 60

/**
 * Parts of names of classes and ids by which a loader is found, and the words, in small letters between hyphens, that name one, or one
 * that lies over the page: elsewhere they name content.
 */
const parts = ['load', 'spin', 'skeleton', 'shimmer', 'splash', 'throbber', 'circularprogress', 'circular-progress']
const words =
  '(?:^|[-_])(?:pre)?(?:load(?:er|ing)|spin(?:ner)?|skeletons?|shimmer|throbber|circular-progress)(?:$|[-_])'
const overlayWords = '(?:^|[-_])splash(?:$|[-_])'

/** What pages say while they load, by language. */
const texts = [
  'loading|please wait|one moment|just a moment|starting|initiali[sz]ing|connecting|redirect(?:ing|ed)',
  'wird geladen|lade[nt]?\\b|bitte warten|einen moment|weitergeleitet|weiterleitung',
  'chargement|veuillez patienter|un instant|redirection|redirigé',
  'cargando|espere|un momento|redirigi|redireccion',
  'carregando|aguarde|redirecion',
  'caricamento|attendere|reindirizza',
  'even geduld|wordt geladen|doorgestuurd|doorverwezen',
  'laddar|vänta',
  'indlæser|laster|vent (?:venligst|litt)',
  'ladataan|odota',
  'wczytywanie|ładowanie|proszę czekać',
  'načítání|načítanie|čekejte',
  'betöltés|kérem várjon',
  'se încarcă|așteptați',
  'φόρτωση|περιμένετε',
  'загрузка|подождите|завантаження|зачекайте',
  'yükleniyor|bekleyin',
  'جار[يٍ]? التحميل|يرجى الانتظار',
  'טוען|אנא המתן',
  'लोड हो रहा|कृपया प्रतीक्षा',
  'กำลังโหลด|โปรดรอ',
  'đang tải|vui lòng đợi',
  'memuat|mohon tunggu',
  '読み込み中|ロード中|お待ちください',
  '加载中|正在加载|请稍候|載入中|請稍候',
  '로딩|불러오는|잠시만',
]

/**
 * A function: whether the page shows a loader in the viewport, by its name or role, or consists of hardly more than a word that asks
 * to wait, or a form without anything to fill in, which submits itself. Progress with a value is content. Searches no shadow roots.
 */
export const showsLoader = `() => {
  const isShown = (element) => {
    const { width, height, left, top, right, bottom } = element.getBoundingClientRect()
    const isInView = right > 0 && bottom > 0 && left < innerWidth && top < innerHeight
    return width * height > 0 && isInView && element.checkVisibility({ opacityProperty: true, visibilityProperty: true })
  }
  const [word, overlayWord] = ${JSON.stringify([words, overlayWords])}.map((each) => new RegExp(each))
  const namesOf = ({ className, id }) => [...String(className?.baseVal ?? className).split(/\\s+/), id]
    .map((name) => name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, '-').toLowerCase())
  const isNamed = (element) => {
    const names = namesOf(element)
    const isOverlay = () => ['fixed', 'absolute'].includes(getComputedStyle(element).position)
    if (names.some((name) => name.includes('loaded'))) return false
    return names.some((name) => (word.test(name) && !name.includes('lazy')) || (overlayWord.test(name) && isOverlay()))
  }
  const isLoader = (element) => {
    const isBusy = element.ariaBusy === 'true' || element.role === 'progressbar'
    if ((!isBusy && !isNamed(element)) || element.closest('[aria-valuenow]')) return false
    const isBare = element.textContent.length <= ${loaderCharactersMax} && !element.querySelector('a, button, input, video')
    return isBare && !element.closest('button, a') && isShown(element)
  }
  const named = ${JSON.stringify(parts.flatMap((part) => [`[class*="${part}" i]`, `[id*="${part}" i]`]).join())}
  if ([...document.querySelectorAll('[role=progressbar], [aria-busy=true], ' + named)].slice(0, 200).some(isLoader)) return true
  if (!document.body) return false
  let text = ''
  const nodes = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (nodes.nextNode() && text.length <= ${pageCharactersMax}) {
    const { data, parentElement } = nodes.currentNode
    if (data.trim() !== '' && parentElement.checkVisibility()) text += data.trim() + ' '
  }
  if (text.length > ${pageCharactersMax} || document.scripts.length === 0) return false
  if (document.querySelector('img, canvas, video, iframe, object, embed')) return false
  const submitsItself = [...document.forms].some(({ elements }) => ![...elements].some((each) => each.checkVisibility()))
  return submitsItself || new RegExp(${JSON.stringify(texts.join('|'))}, 'i').test(text)
}`

const outlast = (leftMs: number) => `(async () => {
  const showsLoader = ${showsLoader}
  const endsAt = performance.now() + ${leftMs}
  while (showsLoader() && performance.now() < endsAt) await (${pause})(${pollMs})
  if (showsLoader()) return false
  await (${awaitUnchanged})()
  return true
})()`

/** Waits for the loader of a page to go, for 2 s and `waitMs` at most, and follows the page to another document. Returns whether it went. */
export const outlastLoader = async (
  open: Pick<OpenPage, 'session' | 'mainFrameId' | 'document'>,
  waitMs: number,
): Promise<boolean> => {
  const endsAt = performance.now() + Math.min(loaderMs, waitMs)
  return (await runInLatestDocument(open, outlast, endsAt)) === true
}
